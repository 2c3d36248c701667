//! How far particles went, how they spread, how long they stayed, where they left.
