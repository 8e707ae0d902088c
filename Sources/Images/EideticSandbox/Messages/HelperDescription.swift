package import EideticCore

/// A decoding process as it describes itself before it has read an image.
package struct HelperDescription: Sendable, Hashable {
    /// The version of the messages.
    package var version = HelperDescription.currentVersion
    /// The restrictions that were applied.
    package var restrictions: HelperRestrictions
    /// The names of the formats that the program can decode.
    package var formats: [String]
    /// The address space of the idle process in bytes.
    package var addressSpace: Int

    /// The version of the messages of this build.
    package static let currentVersion: UInt32 = 3

    package init(restrictions: HelperRestrictions, formats: [String], addressSpace: Int) {
        (self.restrictions, self.formats, self.addressSpace) = (restrictions, formats, addressSpace)
    }
}

extension HelperDescription: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(version)
        writer.append(restrictions.rawValue)
        writer.append(list: formats) { $0.append($1) }
        writer.append(addressSpace)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        version = try reader.integer()
        restrictions = HelperRestrictions(rawValue: try reader.integer())
        formats = try reader.list(limit: 64) { reader throws(WireError) in try reader.text(limit: 32) }
        addressSpace = try reader.integer()
        guard (0..<1 << 46).contains(addressSpace) else { throw .unknownCase(type: "address space", value: 0) }
    }
}

/// The restrictions of a decoding process; the system may lack some.
package struct HelperRestrictions: OptionSet, Sendable, Hashable {
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

    /// The names of all restrictions.
    package static let names: [(restriction: HelperRestrictions, name: String)] = [
        (.systemCalls, "seccomp"), (.landlock, "landlock"), (.user, "user namespace"),
        (.network, "network namespace"), (.files, "mount namespace"), (.privileges, "no privileges"),
        (.resources, "resource limits"),
    ]
}
