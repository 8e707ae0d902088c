import CLinux
import Glibc

/// Threads of our own, for engines and pools.
package enum Thread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread; `name` (at most 15 bytes are kept) is what `top -H` and a debugger show.
    ///
    /// A machine that can give no thread cannot go on: traps.
    package static func start(name: String, body run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
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
                argument.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            },
            body.toOpaque()
        )
        precondition(error == 0, "no thread could be started: \(SystemError.message(for: error))")
        eidetic_set_thread_name(thread, String(decoding: name.utf8.prefix(15), as: UTF8.self))
    }
}
