//! How the items of an array are spread over chunks.

use std::ops::Range;

/// The most items that a chunk has, along particles and saves together: 3 MiB of f32 positions.
const MOST: usize = 1 << 18;

/// The most rows that a chunk of a growing list has.
const MAX_OF_LIST: usize = 1 << 13;

/// Rows of items, cut into chunks. An item is a number, or the numbers of a vector.
///
/// What has a row for each save has a column for each particle; a list has one or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    /// Items in a row.
    pub columns: usize,
    /// Rows in a chunk.
    pub rows_each: usize,
    /// Columns in a chunk.
    pub columns_each: usize,
}

/// Where an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The chunk, counted row of chunks by row of chunks.
    pub chunk: usize,
    /// The item's number in the chunk.
    pub at: usize,
    /// How many items come one after the other from there on, in the chunk and in the array.
    pub room: usize,
}

impl Grid {
    /// For an array of so many particles at so many saves.
    ///
    /// Depends on nothing else, least of all on the blocks in which saves come. A chunk has several
    /// saves of few particles, or one save of some of many; they fill one after the other.
    pub fn of_saves(particles: usize, saves: usize) -> Grid {
        let columns_each = columns_each(particles);
        let rows_each = match particles <= MOST {
            true => (MOST / particles.max(1)).clamp(1, saves.max(1)),
            false => 1,
        };
        Grid { columns: particles, rows_each, columns_each }
    }

    /// For an item of each particle: a single row.
    pub fn of_particles(particles: usize) -> Grid {
        Grid { columns: particles, rows_each: 1, columns_each: columns_each(particles) }
    }

    /// For a list that grows, perhaps to this length.
    pub fn of_list(length: Option<usize>) -> Grid {
        let rows_each = length.unwrap_or(MAX_OF_LIST).clamp(1, MAX_OF_LIST);
        Grid { columns: 1, rows_each, columns_each: 1 }
    }

    /// Items in a chunk.
    pub fn items_each(&self) -> usize {
        self.rows_each.saturating_mul(self.columns_each)
    }

    /// Chunks side by side.
    pub fn across(&self) -> usize {
        self.columns.div_ceil(self.columns_each)
    }

    /// The place of an item, by its number in the array.
    pub fn place(&self, item: usize) -> Place {
        let (row, column) = (item / self.columns, item % self.columns);
        let (down, across) = (row / self.rows_each, column / self.columns_each);
        let (row, start) = (row % self.rows_each, across * self.columns_each);
        let end = (start + self.columns_each).min(self.columns);
        let rows = if self.across() == 1 { self.rows_each - row } else { 1 };
        Place {
            chunk: down * self.across() + across,
            at: row * self.columns_each + column - start,
            room: (rows - 1) * self.columns + end - column,
        }
    }

    /// Row and column of a chunk among chunks.
    pub fn index(&self, chunk: usize) -> [usize; 2] {
        [chunk / self.across(), chunk % self.across()]
    }

    /// Whole rows in an array whose last chunk has so many items, where chunks are filled in order.
    pub fn whole_rows(&self, last: usize, items: usize) -> usize {
        let [down, across] = self.index(last);
        let rows = if across + 1 == self.across() { items / self.columns_each } else { 0 };
        down * self.rows_each + rows
    }

    /// Pieces of a row: chunk, number of the first item in it, and how many items.
    pub fn pieces(&self, row: usize, columns: Range<usize>) -> impl Iterator<Item = Place> {
        let (grid, mut column) = (*self, columns.start);
        std::iter::from_fn(move || {
            let across = column / grid.columns_each;
            let start = across * grid.columns_each;
            let end = (start + grid.columns_each).min(columns.end);
            let room = end.checked_sub(column).filter(|room| *room > 0)?;
            let at = row % grid.rows_each * grid.columns_each + column - start;
            column = end;
            Some(Place { chunk: row / grid.rows_each * grid.across() + across, at, room })
        })
    }
}

/// Particles in a chunk, about as many in each.
fn columns_each(particles: usize) -> usize {
    particles.div_ceil(particles.div_ceil(MOST).max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_of_saves_or_of_particles() {
        let few = Grid::of_saves(1000, 50_000);
        assert_eq!((few.rows_each, few.columns_each), (262, 1000));
        assert_eq!(Grid::of_saves(1000, 5).rows_each, 5);
        let many = Grid::of_saves(1_000_000, 10);
        assert_eq!((many.rows_each, many.columns_each, many.across()), (1, 250_000, 4));
        let more = Grid::of_saves((1 << 18) + 1, 10);
        assert_eq!((more.rows_each, more.columns_each, more.across()), (1, 131_073, 2));
        let none = Grid::of_saves(0, 0);
        assert_eq!((none.rows_each, none.columns_each, none.across()), (1, 1, 0));
    }

    #[test]
    fn items_fill_chunk_after_chunk() {
        let wide = Grid { columns: 5, rows_each: 1, columns_each: 3 };
        assert_eq!(wide.place(0), Place { chunk: 0, at: 0, room: 3 });
        assert_eq!(wide.place(4), Place { chunk: 1, at: 1, room: 1 });
        assert_eq!(wide.place(5), Place { chunk: 2, at: 0, room: 3 });
        assert_eq!(
            [wide.whole_rows(1, 2), wide.whole_rows(1, 3), wide.whole_rows(2, 3)],
            [0, 1, 1]
        );
        let long = Grid { columns: 2, rows_each: 3, columns_each: 2 };
        assert_eq!(long.place(1), Place { chunk: 0, at: 1, room: 5 });
        assert_eq!(long.place(6), Place { chunk: 1, at: 0, room: 6 });
        assert_eq!([long.whole_rows(0, 5), long.whole_rows(1, 2)], [2, 4]);
    }

    #[test]
    fn rows_are_in_pieces() {
        let grid = Grid { columns: 5, rows_each: 2, columns_each: 2 };
        let pieces: Vec<Place> = grid.pieces(3, 1..5).collect();
        let expected = [(3, 3, 1), (4, 2, 2), (5, 2, 1)];
        assert_eq!(pieces, expected.map(|(chunk, at, room)| Place { chunk, at, room }));
        assert_eq!(grid.pieces(0, 2..2).count(), 0);
    }
}
