//! the run: one worker per core drives arrivals, connections and recorders.
