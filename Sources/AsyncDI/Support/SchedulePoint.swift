#if ASYNCDI_EXPLORATION && os(Linux)
    /// A point at which threads could interleave, in a library that is compiled to explore schedules.
    ///
    /// Before every lock, and before every atomic operation of the instance table and of the read epochs.
    public enum SchedulePoint {
        /// The next action of a thread.
        public enum Kind: Int32, Sendable {
            /// Any action: other threads may go first.
            case pass = 1
            /// A wait for other threads to make progress.
            case waits = 3
        }

        /// Called at each point.
        ///
        /// Unsafe because it is set before the first container is created, and only read from then on.
        nonisolated(unsafe) public static var hook: (@convention(c) (Int32) -> Void)?

        static func pass() { hook?(Kind.pass.rawValue) }
        static func wait() { hook?(Kind.waits.rawValue) }
    }
#endif

/// Passes a point at which threads could interleave; nothing where the library is not compiled to explore schedules.
@inline(__always)
func schedulePoint() {
    #if ASYNCDI_EXPLORATION && os(Linux)
        SchedulePoint.pass()
    #endif
}
