//! The faces of the domain box.

/// A face of the domain box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Face {
    /// The face at minimum x.
    XLow = 0,
    /// The face at maximum x.
    XHigh = 1,
    /// The face at minimum y.
    YLow = 2,
    /// The face at maximum y.
    YHigh = 3,
    /// The face at minimum z.
    ZLow = 4,
    /// The face at maximum z.
    ZHigh = 5,
}

impl Face {
    /// All faces, in the order of their codes.
    pub const ALL: [Face; 6] =
        [Face::XLow, Face::XHigh, Face::YLow, Face::YHigh, Face::ZLow, Face::ZHigh];

    /// The name used in case files and tables: `x-low`, `x-high`, ...
    pub const fn name(self) -> &'static str {
        match self {
            Face::XLow => "x-low",
            Face::XHigh => "x-high",
            Face::YLow => "y-low",
            Face::YHigh => "y-high",
            Face::ZLow => "z-low",
            Face::ZHigh => "z-high",
        }
    }
}

impl std::fmt::Display for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
