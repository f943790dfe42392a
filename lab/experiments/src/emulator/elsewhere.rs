//! Stands for the emulator on systems other than Linux: starting it is an error.

use std::io;
use std::net::{TcpStream, UdpSocket};
use std::process::Command;

use super::{Carried, EmulatorError, Ethernet, Host, Path, PathStats};

/// Proof that this process is in a network namespace, which it is only on Linux.
#[derive(Debug)]
pub(crate) enum Namespace {}

impl Namespace {
    /// There are no namespaces here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn enter() -> Result<Namespace, EmulatorError> {
        Err(EmulatorError::OnlyLinux)
    }

    /// There are no namespaces here.
    pub(crate) fn here() -> Option<Namespace> {
        None
    }

    /// There are no namespaces here.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn command() -> Result<Command, EmulatorError> {
        Err(EmulatorError::OnlyLinux)
    }
}

/// An emulated network, which there is only on Linux.
#[derive(Debug)]
pub(crate) enum Emulator {}

impl Emulator {
    /// Never called, for want of a namespace.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn start(namespace: &Namespace, _paths: &[Path]) -> Result<Self, EmulatorError> {
        match *namespace {}
    }

    /// Never called.
    pub(crate) fn client(&self, _n: usize) -> Host {
        match *self {}
    }

    /// Never called.
    pub(crate) fn change(&self, _n: usize, _path: &Path) {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn move_client(&self, _n: usize) -> Result<(), EmulatorError> {
        match *self {}
    }

    /// Never called.
    pub(crate) fn stats(&self, _n: usize) -> PathStats {
        match *self {}
    }
}

/// An Ethernet between two hosts, which there is only on Linux.
#[derive(Debug)]
pub(crate) enum Wire {}

impl Wire {
    /// Never called, for want of a namespace.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn start(namespace: &Namespace, _ethernet: Ethernet) -> Result<Self, EmulatorError> {
        match *namespace {}
    }

    /// Never called.
    pub(crate) fn change(&self, _ethernet: Ethernet) {
        match *self {}
    }

    /// Never called.
    pub(crate) fn carried(&self) -> Carried {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn connect(&self) -> io::Result<[TcpStream; 2]> {
        match *self {}
    }
}

/// Two hosts with a cable between them, which there are only on Linux.
#[derive(Debug)]
pub(crate) enum Cable {}

impl Cable {
    /// Never called, for want of a namespace.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn start(
        namespace: &Namespace,
        _mbit: f64,
        _has_switch: bool,
    ) -> Result<Self, EmulatorError> {
        match *namespace {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn connect(&self) -> io::Result<[TcpStream; 2]> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn change(&self, _mbit: f64) -> Result<(), EmulatorError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn datagrams(&self) -> io::Result<[UdpSocket; 2]> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None, as it is never called.
    pub(crate) fn received(&self) -> io::Result<u64> {
        match *self {}
    }
}
