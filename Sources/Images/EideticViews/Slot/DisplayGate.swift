package import EideticCore

/// A gate that holds drawing back while the application is in the background, and draws the last state on return.
@MainActor
package final class DisplayGate {
    /// The gate of all slots that are created without one.
    package static let shared = DisplayGate()

    enum Part: Hashable { case image, indicator, load, motion }

    private struct Key: Hashable {
        let owner: ObjectIdentifier
        let part: Part
    }

    private var pending: [Key: @MainActor (Bool) -> Void] = [:]
    private var order: [Key] = []
    private var observation: Task<Void, Never>?

    /// Creates an open gate.
    ///
    /// - Parameter environment: The source of phases; by default the application of this process.
    package init(observing environment: any ApplicationEnvironment = DefaultEnvironment.shared) { observe(environment) }

    isolated deinit { observation?.cancel() }

    package private(set) var isHeld = false

    /// Holds drawing back until ``release()`` is called.
    package func hold() { isHeld = true }

    /// Ends the hold, and draws the last state of each slot that was held back, once.
    package func release() {
        isHeld = false
        let late = order
        order = []
        for key in late {
            // Drawing may make the application draw a newer state, or hold again.
            if isHeld { order.append(key) } else { pending.removeValue(forKey: key)?(true) }
        }
    }

    /// Draws the last image and indicator of each slot that was held back, for a snapshot of the windows.
    ///
    /// The hold goes on: loads and motion wait for its end.
    package func drawForSnapshot() {
        let drawn = order.filter { $0.part == .image || $0.part == .indicator }
        order.removeAll { $0.part == .image || $0.part == .indicator }
        for key in drawn { pending.removeValue(forKey: key)?(true) }
    }

    /// Holds and releases with the phases of the application; replaces an earlier environment.
    package func observe(_ environment: any ApplicationEnvironment) {
        let phases = environment.phases
        observation?.cancel()
        observation = Task { [weak self] in
            for await phase in phases { phase == .background ? self?.hold() : self?.release() }
        }
    }

    /// Calls `body` now or, if drawing is held back, at the release, unless a newer state replaces it.
    ///
    /// - Parameters:
    ///   - part: The part of the slot that `body` draws.
    ///   - slot: The slot.
    ///   - body: Draws; its parameter is `true` if it is called late.
    func draw(_ part: Part, of slot: ImageSlot, body: @escaping @MainActor (_ isLate: Bool) -> Void) {
        perform(body, for: Key(owner: ObjectIdentifier(slot), part: part))
    }

    /// Calls `body` now or, if drawing is held back, once at the release.
    ///
    /// - Parameters:
    ///   - owner: An object that lives until the release; a later call for it replaces `body`.
    ///   - body: Repeats a load that the background time has ended.
    package func load(for owner: AnyObject, body: @escaping @MainActor () -> Void) {
        perform({ _ in body() }, for: Key(owner: ObjectIdentifier(owner), part: .load))
    }

    /// Calls `body` at the release of the gate, once, if drawing is held back; returns whether it is.
    func resumeMotion(of owner: AnyObject, body: @escaping @MainActor () -> Void) -> Bool {
        guard isHeld else { return false }
        perform({ _ in body() }, for: Key(owner: ObjectIdentifier(owner), part: .motion))
        return true
    }

    private func perform(_ body: @escaping @MainActor (_ isLate: Bool) -> Void, for key: Key) {
        guard isHeld else {
            pending[key] = nil
            return body(false)
        }
        if pending.updateValue(body, forKey: key) == nil { order.append(key) }
    }

    /// Removes everything that a slot has not drawn yet.
    func discard(_ slot: ImageSlot) {
        order.removeAll { $0.owner == ObjectIdentifier(slot) }
        for part in [Part.image, .indicator] { pending[Key(owner: ObjectIdentifier(slot), part: part)] = nil }
    }
}
