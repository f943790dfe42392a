//! Refuses exported functions that end a process of Node 20.
//!
//! V8 compiles a call of a WebAssembly function into JavaScript code that calls it often. If that
//! code is discarded during the call, V8 11.3 must know how to take over the result, and where the
//! result is one reference to an object it ends the process with "Fatal error: unreachable code".
//! It does not compile calls of functions with several results in this way, which functions that
//! return a `Result` have.

use std::error::Error;

use walrus::{ExportItem, Module, RefType, ValType};

/// Fails if an exported function returns one reference to an object and nothing else.
pub fn check(module: &Module) -> Result<(), Box<dyn Error>> {
    for export in module.exports.iter() {
        let ExportItem::Function(function) = export.item else { continue };
        let results = module.types.results(module.funcs.get(function).ty());
        if results == [ValType::Ref(RefType::EXTERNREF)] {
            let why = "a call of it can end a process of Node 20 (scripts/bindgen/src/returns.rs)";
            return Err(format!("{} must return a Result: {why}", export.name).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use walrus::FunctionBuilder;

    /// A module with one exported function, which never returns.
    fn returning(results: &[ValType]) -> Module {
        let mut module = Module::default();
        let mut function = FunctionBuilder::new(&mut module.types, &[], results);
        function.func_body().unreachable();
        let function = function.finish(vec![], &mut module.funcs);
        module.exports.add("poll", function);
        module
    }

    #[test]
    fn one_reference_alone_is_refused() {
        let reference = ValType::Ref(RefType::EXTERNREF);
        assert!(check(&returning(&[reference])).unwrap_err().to_string().starts_with("poll must"));
        for results in [&[][..], &[ValType::I32], &[ValType::I32; 3]] {
            check(&returning(results)).unwrap();
        }
    }
}
