//! NetCDF files and Zarr groups that stay open.

use crate::Result;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of files that stay open.
pub(super) const OPEN_FILES: usize = 2;

/// The last files that were opened, by what identifies them, the latest at the end.
#[derive(Debug)]
pub(super) struct OpenFiles<K, V: ?Sized>(Mutex<Vec<(K, Arc<V>)>>);

impl<K, V: ?Sized> Default for OpenFiles<K, V> {
    fn default() -> Self {
        OpenFiles(Mutex::default())
    }
}

impl<K: PartialEq, V: ?Sized> OpenFiles<K, V> {
    /// The open file, or opens it.
    pub fn get(&self, key: K, open: impl FnOnce(&K) -> Result<Arc<V>>) -> Result<Arc<V>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = lock().iter().find(|(known, _)| *known == key) {
            return Ok(file.clone());
        }
        let file = open(&key)?;
        let mut opened = lock();
        if opened.len() == OPEN_FILES {
            opened.remove(0);
        }
        opened.push((key, file.clone()));
        Ok(file)
    }
}
