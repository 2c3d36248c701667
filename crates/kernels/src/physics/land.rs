//! Land: which cells of a lattice a straight path may enter. See [`Land`](crate::Land) for its numbers.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod land {
    use crate::physics::{
        body::both::Line,
        obstacles::both::{AllowedPoint, Contact},
        tables::{BODY_FLOATS, BODY_INTS, OBSTACLES_AT, SHAPES_AT},
        vector::both::vec3,
    };

    /// The lattice of the land.
    pub(crate) struct Lattice<F: Float> {
        /// The first inner walls, and parts of an axis per unit of length.
        low: Vec3<F>,
        per_part: Vec3<F>,
        /// Cells along each axis.
        cells: Vec3<F>,
        stride: i32,
        layer: i32,
        rows_at: usize,
        numbers_at: usize,
        /// Distance from a wall of particles that are put beside it.
        skin: F,
        size: F,
    }

    /// Loads the land that is obstacle `k`.
    #[inline(always)]
    pub(crate) fn load<F: Float>(launch: &Launch<F>, k: usize) -> Lattice<F> {
        let floats = launch.int(SHAPES_AT) as usize + k * BODY_FLOATS;
        let ints = launch.int(OBSTACLES_AT) as usize + 1 + k * BODY_INTS;
        let (nx, ny, nz) = (launch.int(ints + 4), launch.int(ints + 5), launch.int(ints + 6));
        let size = launch.float(floats + 8);
        Lattice::<F> {
            low: launch.vec3(floats),
            per_part: launch.vec3(floats + 3),
            cells: vec3::<F>(F::cast_from(nx), F::cast_from(ny), F::cast_from(nz)),
            stride: nx,
            layer: nx * ny,
            rows_at: launch.int(ints + 7) as usize,
            numbers_at: launch.int(ints + 8) as usize,
            skin: F::new(4.0_f32) * rounding::<F>() * size,
            size,
        }
    }

    /// The lower wall of a cell on an axis.
    #[inline(always)]
    fn wall<F: Float>(
        launch: &Launch<F>,
        lattice: &Lattice<F>,
        cell: F,
        #[comptime] axis: usize,
    ) -> F {
        launch.row(lattice.rows_at + i32::cast_from(cell) as usize).extract(axis)
    }

    /// The cell of a coordinate.
    #[inline(always)]
    fn cell_along<F: Float>(
        launch: &Launch<F>,
        lattice: &Lattice<F>,
        p: Vec3<F>,
        #[comptime] axis: usize,
    ) -> F {
        let (zero, one) = (F::new(0.0_f32), F::new(1.0_f32));
        let x = p.extract(axis);
        let start = launch.number(lattice.numbers_at + axis);
        let last = launch.number(lattice.numbers_at + axis + 1) - start - 1i32;
        let part = (x - lattice.low.extract(axis)) * lattice.per_part.extract(axis);
        let part = i32::cast_from(clamp(part, zero, F::cast_from(last)));
        let mut cell = F::cast_from(launch.number(lattice.numbers_at + (start + part) as usize));
        let end = lattice.cells.extract(axis) - one;
        while cell < end && x >= wall::<F>(launch, lattice, cell + one, axis) {
            cell += one;
        }
        cell
    }

    /// The cell of a point.
    #[inline(always)]
    fn cell_at<F: Float>(launch: &Launch<F>, lattice: &Lattice<F>, p: Vec3<F>) -> Vec3<F> {
        vec3::<F>(
            cell_along::<F>(launch, lattice, p, 0usize),
            cell_along::<F>(launch, lattice, p, 1usize),
            cell_along::<F>(launch, lattice, p, 2usize),
        )
    }

    /// The number of cells from a cell to the nearest land.
    #[inline(always)]
    fn distance<F: Float>(launch: &Launch<F>, lattice: &Lattice<F>, cell: Vec3<F>) -> F {
        let number = i32::cast_from(cell.extract(0usize))
            + lattice.stride * i32::cast_from(cell.extract(1usize))
            + lattice.layer * i32::cast_from(cell.extract(2usize));
        let first = launch.number(lattice.numbers_at + 3usize);
        let word = launch.number(lattice.numbers_at + (first + number / 4i32) as usize);
        F::cast_from((word >> (8i32 * (number % 4i32))) & 255i32)
    }

    /// A box of water, without its high walls.
    pub(crate) struct Water<F: Float> {
        pub low: Vec3<F>,
        pub high: Vec3<F>,
    }

    /// The cells nearer to a point than any land; none, if it is on land.
    #[inline(always)]
    pub(crate) fn water<F: Float>(
        launch: &Launch<F>,
        lattice: &Lattice<F>,
        p: Vec3<F>,
    ) -> Water<F> {
        let cell = cell_at::<F>(launch, lattice, p);
        let free = distance::<F>(launch, lattice, cell);
        nearer::<F>(launch, lattice, cell, free)
    }

    /// The cells nearer to a cell than land, which is `free` cells away.
    #[inline(always)]
    fn nearer<F: Float>(
        launch: &Launch<F>,
        lattice: &Lattice<F>,
        cell: Vec3<F>,
        free: F,
    ) -> Water<F> {
        let mut low = cell;
        let mut high = cell;
        #[unroll]
        for d in 0..3usize {
            let first = max(cell.extract(d) - free + F::new(1.0_f32), F::new(0.0_f32));
            let end = min(cell.extract(d) + free, lattice.cells.extract(d));
            low.insert(d, wall::<F>(launch, lattice, first, d));
            high.insert(d, wall::<F>(launch, lattice, end, d));
        }
        Water::<F> { low, high }
    }

    /// Whether the straight path between two points certainly stays in water: in the cells nearer to its start than any land.
    #[inline(always)]
    pub(crate) fn is_clear<F: Float>(
        launch: &Launch<F>,
        lattice: &Lattice<F>,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> bool {
        let water = water::<F>(launch, lattice, from);
        let mut is_clear = true;
        #[unroll]
        for d in 0..3usize {
            let x = to.extract(d);
            is_clear = is_clear && water.low.extract(d) <= x && x < water.high.extract(d);
        }
        is_clear
    }

    /// A bound for the distance from land, positive in water.
    pub(crate) fn clearance<F: Float>(launch: &Launch<F>, lattice: &Lattice<F>, p: Vec3<F>) -> F {
        let is_land =
            distance::<F>(launch, lattice, cell_at::<F>(launch, lattice, p)) == F::new(0.0_f32);
        let size = lattice.size + F::new(1.0_f32);
        select(is_land, -size, size)
    }

    /// A point in water: itself, or beside the nearest wall between its cell and one of water.
    pub(crate) fn moved_off<F: Float>(
        launch: &Launch<F>,
        lattice: &Lattice<F>,
        p: Vec3<F>,
    ) -> AllowedPoint<F> {
        let zero = F::new(0.0_f32);
        let cell = cell_at::<F>(launch, lattice, p);
        let is_allowed = distance::<F>(launch, lattice, cell) > zero;
        let mut point = p;
        let mut nearest = F::max_value();
        if !is_allowed {
            #[unroll]
            for d in 0..3usize {
                #[unroll]
                for side in 0..2usize {
                    let step = F::new(comptime!(2.0_f32 * side as f32 - 1.0_f32));
                    let next = cell.extract(d) + step;
                    if zero <= next && next < lattice.cells.extract(d) {
                        let mut beside = cell;
                        beside.insert(d, next);
                        let at = cell.extract(d) + F::new(comptime!(side as f32));
                        let wall = wall::<F>(launch, lattice, at, d);
                        let apart = (wall - p.extract(d)).abs();
                        if apart < nearest && distance::<F>(launch, lattice, beside) > zero {
                            nearest = apart;
                            point = p;
                            point.insert(d, wall + step * lattice.skin);
                        }
                    }
                }
            }
        }
        AllowedPoint::<F> { point, is_allowed }
    }

    /// The first crossing of the line from a point to another one into land; its bound is twice the axis of the wall, plus one
    /// on a way up. A line that starts on land crosses at once.
    pub(crate) fn crossing<F: Float>(
        launch: &Launch<F>,
        lattice: &Lattice<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        line: &Line<F>,
    ) -> Contact<F> {
        let (zero, one) = (F::new(0.0_f32), F::new(1.0_f32));
        let mut cell = cell_at::<F>(launch, lattice, from);
        let mut free = distance::<F>(launch, lattice, cell);
        let mut reached = zero;
        let mut bound = steepest::<F>(line.direction);
        let mut point = from;
        let mut continues = free > zero;
        while continues {
            // The cells nearer than any land are left through the first of these walls.
            let mut next = F::max_value();
            let mut axis = i32::new(-1);
            #[unroll]
            for d in 0..3usize {
                let (here, along) = (cell.extract(d), line.direction.extract(d));
                let is_up = along > zero;
                let at = select(is_up, here + free, here - free + one);
                if along != zero && zero < at && at < lattice.cells.extract(d) {
                    let t = (wall::<F>(launch, lattice, at, d) - from.extract(d)) / along;
                    let t = max(t, reached);
                    if t < next {
                        next = t;
                        axis = i32::new(comptime!(d as i64));
                        bound = comptime!(2 * d as i32) + select(is_up, 1i32, 0i32);
                    }
                }
            }
            continues = axis >= 0 && next <= line.length;
            if continues {
                reached = next;
                point = from + Vec3::<F>::new(reached) * line.direction;
                let mut entered = cell;
                #[unroll]
                for d in 0..3usize {
                    let here = cell.extract(d);
                    if axis == comptime!(d as i32) {
                        entered.insert(d, select(bound % 2i32 == 1i32, here + free, here - free));
                    } else if free > one {
                        let low = max(here - free + one, zero);
                        let high = min(here + free, lattice.cells.extract(d)) - one;
                        let found = cell_along::<F>(launch, lattice, point, d);
                        entered.insert(d, clamp(found, low, high));
                    }
                }
                let there = distance::<F>(launch, lattice, entered);
                continues = there > zero;
                if continues {
                    cell = entered;
                    free = there;
                } else {
                    point = within::<F>(launch, lattice, cell, free, point);
                }
            } else {
                // The end is on land only by its rounding.
                reached = line.length;
                point = within::<F>(launch, lattice, cell, free, to);
                bound = beyond::<F>(point, to);
                if distance::<F>(launch, lattice, cell_at::<F>(launch, lattice, to)) > zero {
                    bound = i32::new(-1);
                }
            }
        }
        Contact::<F> { distance: reached, bound, point, normal: normal::<F>(bound) }
    }

    /// The point itself, or the nearest one that is in cells nearer to a cell than land, which is `free` cells away.
    fn within<F: Float>(
        launch: &Launch<F>,
        lattice: &Lattice<F>,
        cell: Vec3<F>,
        free: F,
        p: Vec3<F>,
    ) -> Vec3<F> {
        let water = nearer::<F>(launch, lattice, cell, free);
        let mut point = p;
        #[unroll]
        for d in 0..3usize {
            let low = water.low.extract(d) + lattice.skin;
            let high = water.high.extract(d) - lattice.skin;
            if p.extract(d) < low {
                point.insert(d, low);
            }
            if p.extract(d) > high {
                point.insert(d, high);
            }
        }
        point
    }

    /// The bound through which a point is beyond the nearest one within.
    fn beyond<F: Float>(within: Vec3<F>, p: Vec3<F>) -> i32 {
        let mut bound = i32::new(0);
        #[unroll]
        for d in 0..3usize {
            let (a, b) = (within.extract(d), p.extract(d));
            if a != b {
                bound = comptime!(2 * d as i32) + select(b > a, 1i32, 0i32);
            }
        }
        bound
    }

    /// The bound of a crossing along the largest component of a direction.
    fn steepest<F: Float>(direction: Vec3<F>) -> i32 {
        let mut largest = F::new(0.0_f32);
        let mut bound = i32::new(0);
        #[unroll]
        for d in 0..3usize {
            let along = direction.extract(d);
            if along.abs() > largest {
                largest = along.abs();
                bound = comptime!(2 * d as i32) + select(along > F::new(0.0_f32), 1i32, 0i32);
            }
        }
        bound
    }

    /// The normal of the wall of a crossing, towards the water.
    fn normal<F: Float>(bound: i32) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        let sign = select(bound % 2i32 == 0i32, F::new(1.0_f32), F::new(-1.0_f32));
        vec3::<F>(
            select(bound / 2i32 == 0i32, sign, zero),
            select(bound / 2i32 == 1i32, sign, zero),
            select(bound / 2i32 == 2i32, sign, zero),
        )
    }
}
