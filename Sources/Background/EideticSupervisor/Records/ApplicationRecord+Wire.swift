package import EideticCore
import EideticLifecycle
import EideticSupervision

extension ApplicationRecord: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, optional: \.program),
        NumberedField(2, \.wasForceQuit),
        NumberedField(3, \.launchCrashCount),
        NumberedField(4, \.processNumber),
        NumberedField(5, optional: \.process),
        NumberedField(6, \.waitingWakes),
        NumberedField(7, \.waitingURLs),
        NumberedField(8, optional: \.waitingLaunch),
        NumberedField(10, \.wakeCrashCounts, as: .crashCounts)
    )
    // The number of the format, not of its fields.
    .preceded(by: 5 as UInt8)
}

extension ApplicationRecord.ProcessRecord: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, \.identifier),
        NumberedField(2, \.startTime),
        NumberedField(3, \.freezer, as: .freezer),
        NumberedField(4, optional: \.state),
        NumberedField(5, \.isBackgroundLaunch),
        NumberedField(6, \.assertions),
        NumberedField(7, \.declarations),
        NumberedField(8, optional: \.suspensionTime),
        NumberedField(9, optional: \.killReport),
        NumberedField(10, optional: \.groupPath),
        NumberedField(11, \.intention),
        NumberedField(12, \.memoryPriorities),
        NumberedField(13, \.progressNumbers, as: .dictionary(by: <)),
        NumberedField(14, \.isPlain)
    )
}

extension ApplicationRecord.Intention: WireRecord {
    package static let layout = Layout(
        from: Self.init,
        NumberedField(1, \.isVisible),
        NumberedField(2, \.isFocused),
        NumberedField(3, \.isTerminating),
        NumberedField(4, optional: \.graceEnd),
        NumberedField(5, \.wakes),
        NumberedField(6, \.urls),
        NumberedField(7, optional: \.presentation)
    )
}

extension ApplicationRecord.URLRecord: WireRecord {
    package static let layout = Layout(Self.init, \.text, \.source, \.token)
}

extension ApplicationRecord.WakeRecord: WireRecord {
    package static let layout = Layout(Self.init, \.reason, \.allowance)
}

extension ApplicationRecord.MemoryPriority: WireRecord {
    package static let layout = Layout(Self.init, \.process, \.own, \.written)
}

extension Layout<[WakeReason.Kind: UInt32]> {
    /// The number of crashes by the kind of wake.
    static var crashCounts: Self { dictionary { $0.rawValue < $1.rawValue } }
}

extension Layout<FreezerKind> {
    /// The name; that of a later version is read as the kind that every kernel has.
    fileprivate static var freezer: Self {
        Layout<String>.text(limit: 16).map(to: { FreezerKind(rawValue: $0) ?? .signals }, from: \.rawValue)
    }
}
