#if GTK
internal import CGTK

/// Handlers of signals that are Swift closures.
@MainActor
package enum Signal {
    /// Names a handler, to take it away again.
    package typealias Handler = UInt

    /// Calls `body` on each signal with its first argument, or with the object where the signal has none.
    @discardableResult
    package static func connect(
        _ object: UnsafeMutableRawPointer,
        _ name: String,
        _ body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void
    ) -> Handler {
        let run: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { data, argument in
            nonisolated(unsafe) let (data, argument) = (data, argument)
            MainActor.assumeIsolated { Signal.box(data)?.body(argument) }
        }
        return connect(object, name, unsafeBitCast(run, to: GCallback.self), Box(body))
    }

    /// Calls `body` on each signal with its first argument, a number.
    @discardableResult
    package static func connectNumber(
        _ object: UnsafeMutableRawPointer,
        _ name: String,
        _ body: @escaping @MainActor (UInt32) -> Void
    ) -> Handler {
        let run: @convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void = { data, number in
            nonisolated(unsafe) let data = data
            MainActor.assumeIsolated { Signal.box(data)?.body(UnsafeMutableRawPointer(bitPattern: UInt(number))) }
        }
        let box = Box { body(UInt32(UInt(bitPattern: $0))) }
        return connect(object, name, unsafeBitCast(run, to: GCallback.self), box)
    }

    package static func disconnect(_ object: UnsafeMutableRawPointer, _ handler: Handler) {
        eidetic_disconnect(object, handler)
    }

    private final class Box {
        let body: @MainActor (UnsafeMutableRawPointer?) -> Void
        init(_ body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void) { self.body = body }
    }

    private static func box(_ data: UnsafeMutableRawPointer?) -> Box? {
        data.map { Unmanaged<Box>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The handler's box is let go of when the signal is disconnected, at the latest when the object is destroyed.
    private static func connect(
        _ object: UnsafeMutableRawPointer,
        _ name: String,
        _ run: GCallback,
        _ box: Box
    ) -> Handler {
        eidetic_connect(object, name, run, Unmanaged.passRetained(box).toOpaque()) { data, _ in
            if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
        }
    }
}
#endif
