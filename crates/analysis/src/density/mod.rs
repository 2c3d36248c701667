//! How many particles there are where.
