import CLinux
import Glibc

/// Detached threads for engines and pools.
package enum Thread {
    private final class Body {
        let name: String
        let run: @Sendable () -> Void
        init(name: String, run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }

        /// Names the calling thread and runs the work; the creator could meet a thread that has ended.
        func start() {
            eidetic_set_thread_name(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
            run()
        }
    }

    /// Starts a detached thread that runs `body`.
    ///
    /// Traps if the system cannot create a thread.
    ///
    /// - Parameters:
    ///   - name: The name that `top -H` and debuggers show; at most 15 bytes are used.
    ///   - body: The work of the thread.
    package static func start(name: String, body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(name: name, run: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 2 << 20)
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let error = pthread_create(
            &thread,
            &attributes,
            { argument in
                argument.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().start() }
                return nil
            },
            argument.toOpaque()
        )
        precondition(error == 0, "cannot start a thread: \(SystemError.message(for: error))")
    }
}
