#if GTK
internal import CGTK

/// Connections of GObject signals to Swift closures, for programs without a GTK binding of their own.
///
/// Each function is for signals with certain C types. Connecting another signal is a programmer's error, which ends the
/// program.
///
/// ```swift
/// Signal.connect(button, signal: "clicked") { _ in cells.refresh() }
/// ```
@MainActor
public enum Signal {
    /// The identifier of a connected handler.
    public typealias HandlerID = UInt

    /// Connects a handler, which is released when it is disconnected, at the latest with the object.
    ///
    /// - Parameters:
    ///   - object: A GObject.
    ///   - signal: The name of a signal that returns nothing and whose first argument, if it has any, is a pointer.
    ///   - handler: The function that is called after GTK's own handler, with the signal's first argument, or with the
    ///     object if the signal has no arguments.
    /// - Returns: The identifier for ``disconnect(_:handler:)``.
    @discardableResult
    public static func connect(
        _ object: UnsafeMutableRawPointer,
        signal: String,
        handler: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void
    ) -> HandlerID {
        let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { data, argument in
            MainActor.runCallback(with: (data, argument)) { data, argument in
                Signal.handler(in: data, as: (@MainActor (UnsafeMutableRawPointer?) -> Void).self)?(argument)
            }
        }
        let address = unsafeBitCast(callback, to: GCallback.self)
        return connect(object, signal: signal, types: "vp", callback: address, handler: handler)
    }

    /// Connects a handler that is called with the signal's first argument, an integer.
    ///
    /// The signal returns nothing, and the argument has 32 bits: an `int`, `guint` or `gboolean`, an enumeration or
    /// flags.
    @discardableResult
    public static func connectInteger(
        _ object: UnsafeMutableRawPointer,
        signal: String,
        handler: @escaping @MainActor (UInt32) -> Void
    ) -> HandlerID {
        let callback: @convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void = { data, number in
            MainActor.runCallback(with: data) {
                Signal.handler(in: $0, as: (@MainActor (UInt32) -> Void).self)?(number)
            }
        }
        let address = unsafeBitCast(callback, to: GCallback.self)
        return connect(object, signal: signal, types: "vi", callback: address, handler: handler)
    }

    /// Connects a handler that is called for each key press that a `GtkEventControllerKey` receives.
    ///
    /// The handler returns `true` if it handled the key, which ends the propagation of the event.
    @discardableResult
    public static func connectKeyPress(
        _ object: UnsafeMutableRawPointer,
        handler: @escaping @MainActor (_ key: UInt32, _ modifiers: UInt32) -> Bool
    ) -> HandlerID {
        let callback: @convention(c) (UnsafeMutableRawPointer?, UInt32, UInt32, UInt32) -> Int32 = {
            data,
            key,
            _,
            modifiers in
            MainActor.runCallback(with: data) {
                let handler = Signal.handler(in: $0, as: (@MainActor (UInt32, UInt32) -> Bool).self)
                return handler?(key, modifiers) == true ? 1 : 0
            }
        }
        let address = unsafeBitCast(callback, to: GCallback.self)
        return connect(object, signal: "key-pressed", types: "iiii", callback: address, handler: handler)
    }

    /// Connects a handler that is called with the signal's first two arguments, for example the velocity of a swipe.
    ///
    /// The signal returns nothing, and both arguments are `double`.
    @discardableResult
    public static func connectPair(
        _ object: UnsafeMutableRawPointer,
        signal: String,
        handler: @escaping @MainActor (Double, Double) -> Void
    ) -> HandlerID {
        let callback: @convention(c) (UnsafeMutableRawPointer?, Double, Double) -> Void = { data, first, second in
            MainActor.runCallback(with: data) {
                Signal.handler(in: $0, as: (@MainActor (Double, Double) -> Void).self)?(first, second)
            }
        }
        let address = unsafeBitCast(callback, to: GCallback.self)
        return connect(object, signal: signal, types: "vdd", callback: address, handler: handler)
    }

    /// Connects a handler that is called for each event that a `GtkEventControllerLegacy` receives.
    ///
    /// The event goes on to other controllers.
    static func connectEvent(
        _ controller: UnsafeMutableRawPointer,
        handler: @escaping @MainActor (OpaquePointer) -> Void
    ) {
        let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32 = { data, event in
            MainActor.runCallback(with: (data, event)) { data, event in
                guard let event else { return }
                Signal.handler(in: data, as: (@MainActor (OpaquePointer) -> Void).self)?(OpaquePointer(event))
            }
            return 0
        }
        let address = unsafeBitCast(callback, to: GCallback.self)
        _ = connect(controller, signal: "event", types: "ip", callback: address, handler: handler)
    }

    /// Disconnects a handler; does nothing if it is not connected any more.
    public static func disconnect(_ object: UnsafeMutableRawPointer, handler: HandlerID) {
        eidetic_disconnect(object, handler)
    }

    private final class Box<Handler> {
        let handler: Handler
        init(_ handler: Handler) { self.handler = handler }
    }

    private static func handler<Handler>(in data: UnsafeMutableRawPointer?, as type: Handler.Type) -> Handler? {
        data.map { Unmanaged<Box<Handler>>.fromOpaque($0).takeUnretainedValue().handler }
    }

    /// Connects a C callback, and releases `handler` when it is disconnected, at the latest with the object.
    ///
    /// Traps if the result and the first arguments of the signal do not have the given types.
    private static func connect<Handler>(
        _ object: UnsafeMutableRawPointer,
        signal: String,
        types: String,
        callback: GCallback,
        handler: Handler
    ) -> HandlerID {
        precondition(
            eidetic_signal_has_types(object, signal, types) != 0,
            "the object has no signal \"\(signal)\" with the C types that this function of Signal is for"
        )
        return eidetic_connect(object, signal, callback, Unmanaged.passRetained(Box(handler)).toOpaque()) { data, _ in
            if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
        }
    }
}
#endif
