package import EideticCore

/// A decoding process as it describes itself before it has read an image.
package struct HelperDescription: Sendable, Hashable {
    package var version = HelperDescription.currentVersion
    package var restrictions: HelperRestrictions
    /// The names of the formats that the program can decode.
    package var formats: [String]
    /// The address space of the idle process in bytes.
    package var addressSpace: Int

    /// The version of the messages of this build.
    package static let currentVersion: UInt32 = 5
}

extension HelperDescription: WireRecord {
    package init(restrictions: HelperRestrictions, formats: [String], addressSpace: Int) {
        self.init(
            version: Self.currentVersion,
            restrictions: restrictions,
            formats: formats,
            addressSpace: addressSpace
        )
    }

    package static let layout = Layout(
        Self.init,
        Field(\.version),
        Field(\.restrictions),
        Field(\.formats, .list(.text(limit: 32), limit: 64)),
        Field(\.addressSpace, .number(in: 0...(1 << 46) - 1))
    )
}

/// The restrictions of a decoding process; the system may lack some.
package struct HelperRestrictions: OptionSet, WireValue, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Only the system calls of decoding (seccomp).
    package static let systemCalls = HelperRestrictions(rawValue: 1)
    /// No files, by Landlock.
    package static let landlock = HelperRestrictions(rawValue: 2)
    /// A user of its own (a user namespace).
    package static let user = HelperRestrictions(rawValue: 4)
    /// No network (a network namespace).
    package static let network = HelperRestrictions(rawValue: 8)
    /// An empty file system (a mount namespace).
    package static let files = HelperRestrictions(rawValue: 16)
    /// No capabilities, and none to be got by programs.
    package static let privileges = HelperRestrictions(rawValue: 32)
    /// Limits on memory, processor time and descriptors.
    package static let resources = HelperRestrictions(rawValue: 64)

    package static let names: [(restriction: HelperRestrictions, name: String)] = [
        (.systemCalls, "seccomp"), (.landlock, "landlock"), (.user, "user namespace"),
        (.network, "network namespace"), (.files, "mount namespace"), (.privileges, "no privileges"),
        (.resources, "resource limits"),
    ]
}
