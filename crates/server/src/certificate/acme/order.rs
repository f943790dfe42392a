//! One order: an account, proofs for all names, and the certificate.

use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Identifier, NewAccount, NewOrder, Order,
    OrderStatus, RetryPolicy,
};

use super::challenge::{Answering, Challenges};
use super::config::AcmeConfig;
use super::directory::Directory;
use super::failure::{Failure, is_unknown_account};
use super::folder::{Folder, StoredAccount};

/// How long an authority may take to check the names, and as long again to issue. Let's Encrypt
/// connects from several places, and gives each 10 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// Orders a certificate, and writes it with its key into the folder.
pub(super) async fn order(
    config: &AcmeConfig,
    folder: &Folder,
    directory: &Directory,
    challenges: &Challenges,
) -> Result<(), Failure> {
    let account = account(config, folder, directory).await?;
    let names: Vec<_> =
        config.domains.iter().map(|name| Identifier::Dns(name.as_str().to_owned())).collect();
    let mut order = match account.new_order(&NewOrder::new(&names)).await {
        Ok(order) => order,
        Err(error) => {
            if is_unknown_account(&error) {
                let removed = folder.remove_account();
                removed.map_err(|why| Failure::of_file(&folder.account_path(), why))?;
            }
            return Err(Failure::of(&error));
        }
    };
    let answering = challenges.begin();
    give_proofs(&mut order, &answering).await?;
    let polling = RetryPolicy::default().timeout(PATIENCE);
    match order.poll_ready(&polling).await {
        Ok(OrderStatus::Ready) => {}
        Ok(_) => return Err(refused_name(&mut order).await.unwrap_or_else(Failure::unexplained)),
        Err(error) => {
            return Err(refused_name(&mut order).await.unwrap_or_else(|| Failure::of(&error)));
        }
    }
    drop(answering);
    let failed = |error| Failure::of(&error);
    let key = order.finalize().await.map_err(failed)?;
    let chain = order.poll_certificate(&polling).await.map_err(failed)?;
    let path = folder.certificate();
    let folder = folder.clone();
    let writing = move || folder.write_certificate(&format!("{}\n{chain}", key.trim_end()));
    let written = tokio::task::spawn_blocking(writing).await.map_err(Failure::own)?;
    written.map_err(|why| Failure::of_file(&path, why))
}

/// The account of the folder, or a new one. By making one the operator agrees to the authority's
/// terms, as the documentation of the option says.
async fn account(
    config: &AcmeConfig,
    folder: &Folder,
    directory: &Directory,
) -> Result<Account, Failure> {
    let failed = |error| Failure::of(&error);
    let path = folder.account_path();
    let unusable = |why| Failure::of_file(&path, why);
    let builder = Account::builder_with_http(Box::new(directory.clone()));
    let mails: Vec<_> = config.contact.iter().map(|mail| format!("mailto:{mail}")).collect();
    let contact: Vec<_> = mails.iter().map(String::as_str).collect();
    if let Some(stored) = folder.account().map_err(unusable)? {
        let account = builder.from_credentials(stored.credentials).await.map_err(failed)?;
        if stored.contact != config.contact {
            account.update_contacts(&contact).await.map_err(failed)?;
            // Credentials cannot be copied, so the stored ones are read once more.
            if let Some(stored) = folder.account().map_err(unusable)? {
                let stored = StoredAccount { contact: config.contact.clone(), ..stored };
                folder.write_account(&stored).map_err(unusable)?;
            }
        }
        return Ok(account);
    }
    let wanted = NewAccount {
        contact: &contact,
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let made = builder.create(&wanted, config.directory.as_str().to_owned(), None).await;
    let (account, credentials) = made.map_err(failed)?;
    let stored = StoredAccount { contact: config.contact.clone(), credentials };
    folder.write_account(&stored).map_err(unusable)?;
    tracing::info!(account = account.id(), "ACME account made");
    Ok(account)
}

/// Prepares the answers to the authority's challenges, and tells it that they are ready.
async fn give_proofs(order: &mut Order, answering: &Answering<'_>) -> Result<(), Failure> {
    let failed = |error| Failure::of(&error);
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(failed)?;
        // The authority may still accept an earlier proof.
        if authorization.status != AuthorizationStatus::Pending {
            continue;
        }
        let domain = authorization.identifier().to_string();
        let Some(mut challenge) = authorization.challenge(ChallengeType::TlsAlpn01) else {
            return Err(Failure::no_proof(&domain));
        };
        answering.add(&domain, &challenge.key_authorization()).map_err(Failure::own)?;
        challenge.set_ready().await.map_err(failed)?;
    }
    Ok(())
}

/// The first name for which the authority accepts no proof, with its reason.
async fn refused_name(order: &mut Order) -> Option<Failure> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        let domain = state.identifier().to_string();
        let problem = state.challenges.iter().find_map(|challenge| challenge.error.as_ref());
        if let Some(problem) = problem {
            return Some(Failure::of_name(&domain, problem));
        }
    }
    None
}
