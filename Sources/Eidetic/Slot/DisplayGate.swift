public import EideticCore

/// Holds drawing back while the application is in the background, and draws the last state once on return (L25).
@MainActor
public final class DisplayGate {
    /// The gate of slots that are given no other.
    public static let shared = DisplayGate()

    enum Part: Hashable { case image, indicator }

    private struct Key: Hashable {
        let slot: ObjectIdentifier
        let part: Part
    }

    private var held: [Key: @MainActor (Bool) -> Void] = [:]
    private var order: [Key] = []
    private var following: Task<Void, Never>?

    /// Creates a gate that is open.
    public init() {}

    isolated deinit { following?.cancel() }

    /// Whether drawing is held back now.
    public private(set) var isHeld = false

    /// Holds drawing back from now on.
    public func hold() { isHeld = true }

    /// Draws what was held back, each place once, and lets drawing through from now on.
    public func release() {
        isHeld = false
        let late = order
        order = []
        for key in late {
            // Drawing may make others draw what is newer, or hold again.
            if isHeld { order.append(key) } else { held.removeValue(forKey: key)?(true) }
        }
    }

    /// Holds and releases as the application's phase changes.
    public func observe(_ environment: any ApplicationEnvironment) {
        let phases = environment.phases
        following?.cancel()
        following = Task { [weak self] in
            for await phase in phases { phase == .background ? self?.hold() : self?.release() }
        }
    }

    /// Draws now, or later in place of what was to be drawn there before; `body` learns whether it is late.
    func draw(_ slot: ImageSlot, part: Part, _ body: @escaping @MainActor (_ isLate: Bool) -> Void) {
        let key = Key(slot: ObjectIdentifier(slot), part: part)
        guard isHeld else {
            held[key] = nil
            return body(false)
        }
        if held.updateValue(body, forKey: key) == nil { order.append(key) }
    }

    func discard(_ slot: ImageSlot) {
        order.removeAll { $0.slot == ObjectIdentifier(slot) }
        for part in [Part.image, .indicator] { held[Key(slot: ObjectIdentifier(slot), part: part)] = nil }
    }
}
