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
            _ = pthread_setname_np(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
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
        let error = create(name: name, body: body)
        precondition(error == 0, "cannot start a thread: \(SystemError.message(for: error))")
    }

    /// Starts a detached thread as ``start(name:body:)`` does; returns `false` if the system cannot create one.
    package static func startIfPossible(name: String, body: @escaping @Sendable () -> Void) -> Bool {
        create(name: name, body: body) == 0
    }

    /// Creates a detached thread; returns the number of the error, or zero.
    private static func create(name: String, body: @escaping @Sendable () -> Void) -> Int32 {
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
        // No thread takes over the body.
        if error != 0 { argument.release() }
        return error
    }
}

/// The processor that a thread runs on.
@usableFromInline
package enum Processor {
    /// The index of the processor that ran the calling thread a moment ago; any number if it is unknown.
    ///
    /// Takes about a nanosecond: the kernel keeps the index in the thread's own memory.
    @usableFromInline package static var currentIndex: Int { Int(truncatingIfNeeded: eidetic_current_processor()) }
}

/// The scheduling priority of processes and threads.
package enum ProcessPriority {
    /// Sets the priority, from -20 (first) to 19 (last); returns `false` if the system refuses.
    @discardableResult
    package static func set(_ priority: Int32, of process: Int32) -> Bool {
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(bitPattern: process), priority) == 0
    }
}
