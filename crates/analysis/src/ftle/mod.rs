//! How much the flow stretches what lies between particles.
