//! Names of the files of chunks.

/// How the files of an array are named: `c/0/1`, `c.0.1`, `0/1` or `0.1`.
#[derive(Clone, Copy, Debug)]
pub struct ChunkKeys {
    /// Text between the indices of a chunk.
    pub separator: &'static str,
    /// Whether names start with `c`.
    pub is_prefixed: bool,
}

impl ChunkKeys {
    /// The name of a chunk, by its index along each dimension.
    pub fn name(self, chunk: &[usize]) -> String {
        let indices = chunk.iter().map(usize::to_string);
        let parts: Vec<String> = match (self.is_prefixed, chunk.is_empty()) {
            (true, _) => ["c".into()].into_iter().chain(indices).collect(),
            (false, true) => vec!["0".into()],
            (false, false) => indices.collect(),
        };
        parts.join(self.separator)
    }

    /// The chunk with a name; `None` for other files.
    pub fn chunk(self, name: &str) -> Option<Vec<usize>> {
        let mut parts = name.split(self.separator);
        if self.is_prefixed && parts.next() != Some("c") {
            return None;
        }
        let chunk: Vec<usize> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
        (self.name(&chunk) == name).then_some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_convert_to_chunks_and_back() {
        let keys = |separator, is_prefixed| ChunkKeys { separator, is_prefixed };
        for (keys, name) in [
            (keys("/", true), "c/2/10"),
            (keys(".", true), "c.2.10"),
            (keys("/", false), "2/10"),
            (keys(".", false), "2.10"),
        ] {
            assert_eq!(keys.name(&[2, 10]), name);
            assert_eq!(keys.chunk(name), Some(vec![2, 10]));
        }
        assert_eq!([true, false].map(|is_prefixed| keys("/", is_prefixed).name(&[])), ["c", "0"]);
        for other in ["zarr.json", "c.02", "c.x", "2.1", "c.2.1.part", ".zarray", ""] {
            assert_eq!(keys(".", true).chunk(other), None, "{other}");
        }
    }
}
