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
            onMainThread((data, argument)) { data, argument in Signal.box(data)?.body(argument) }
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
            onMainThread(data) { Signal.box($0)?.body(UnsafeMutableRawPointer(bitPattern: UInt(number))) }
        }
        let box = Box { body(UInt32(UInt(bitPattern: $0))) }
        return connect(object, name, unsafeBitCast(run, to: GCallback.self), box)
    }

    /// Calls `body` on each key that a `GtkEventControllerKey` sees, with its modifiers.
    ///
    /// `body` gives whether the key meant something, so that nobody else is asked.
    @discardableResult
    package static func connectKey(
        _ object: UnsafeMutableRawPointer,
        _ body: @escaping @MainActor (_ key: UInt32, _ modifiers: UInt32) -> Bool
    ) -> Handler {
        let run: @convention(c) (UnsafeMutableRawPointer?, UInt32, UInt32, UInt32) -> Int32 = {
            data,
            key,
            _,
            modifiers in
            onMainThread(data) { Signal.box($0, as: KeyBox.self)?.body(key, modifiers) == true ? 1 : 0 }
        }
        return connect(object, "key-pressed", unsafeBitCast(run, to: GCallback.self), KeyBox(body))
    }

    /// Calls `body` on each signal with its two arguments, as the speed of a swipe.
    @discardableResult
    package static func connectPair(
        _ object: UnsafeMutableRawPointer,
        _ name: String,
        _ body: @escaping @MainActor (Double, Double) -> Void
    ) -> Handler {
        let run: @convention(c) (UnsafeMutableRawPointer?, Double, Double) -> Void = { data, first, second in
            onMainThread(data) { Signal.box($0, as: PairBox.self)?.body(first, second) }
        }
        return connect(object, name, unsafeBitCast(run, to: GCallback.self), PairBox(body))
    }

    package static func disconnect(_ object: UnsafeMutableRawPointer, _ handler: Handler) {
        eidetic_disconnect(object, handler)
    }

    private final class Box {
        let body: @MainActor (UnsafeMutableRawPointer?) -> Void
        init(_ body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void) { self.body = body }
    }

    private final class KeyBox {
        let body: @MainActor (UInt32, UInt32) -> Bool
        init(_ body: @escaping @MainActor (UInt32, UInt32) -> Bool) { self.body = body }
    }

    private final class PairBox {
        let body: @MainActor (Double, Double) -> Void
        init(_ body: @escaping @MainActor (Double, Double) -> Void) { self.body = body }
    }

    private static func box<Kept: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Kept.Type = Box.self) -> Kept? {
        data.map { Unmanaged<Kept>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The handler's box is let go of when the signal is disconnected, at the latest when the object is destroyed.
    private static func connect(
        _ object: UnsafeMutableRawPointer,
        _ name: String,
        _ run: GCallback,
        _ box: AnyObject
    ) -> Handler {
        eidetic_connect(object, name, run, Unmanaged.passRetained(box).toOpaque()) { data, _ in
            if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
        }
    }
}
#endif
