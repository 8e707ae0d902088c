package import EideticCore

/// The constants of the connection between an application and its supervisor.
///
/// One packet is one message: a byte for its kind, then its values. The application speaks first, with `hello`; the
/// supervisor answers with `welcome`, whose packet has the descriptor of the ``SharedPage``. One lifecycle callback
/// is under way at a time. Deadlines are durations since the start of `CLOCK_MONOTONIC`.
package enum SupervisionProtocol {
    /// The version of the messages; a peer with another one is refused.
    package static let version: UInt16 = 4

    /// The kind of the first message of each side, behind which is its version, in all versions.
    package static let greetingKind: UInt8 = 1

    /// Returns the version of a first message, whatever else is in it, if it is another one than this.
    package static func otherVersion(ofGreeting bytes: [UInt8]) -> UInt16? {
        var reader = WireReader(bytes)
        guard let kind = try? reader.integer(UInt8.self), kind == greetingKind,
            let version = try? reader.integer(UInt16.self), version != Self.version
        else { return nil }
        return version
    }

    /// Returns the sentence about an application with another version than its supervisor.
    package static func mismatch(application: UInt16, supervisor: UInt16) -> String? {
        VersionMismatch(
            of: "the supervisor (package eidetic-background)",
            version: UInt32(supervisor),
            and: "the application",
            version: UInt32(application)
        )?.description
    }
    /// The environment variable with the number of the inherited descriptor.
    package static let descriptorVariable = "EIDETIC_SUPERVISOR"
    /// The name of the socket in the runtime directory.
    package static let socketName = "supervisor"

    /// The limits of texts, in bytes, and of lists, in elements.
    package static let identifierLimit = 255
    package static let textLimit = 1_024
    package static let urlLimit = 32_768
    package static let pathLimit = 4_096
    package static let listLimit = 1_024
    package static let tokenLength = 16
}

extension Layout<String> {
    /// The identifier of an application, or of one of its requests.
    static var identifier: Self { text(limit: SupervisionProtocol.identifierLimit) }
    /// A line of text, or the path of a file.
    package static var path: Self { text(limit: SupervisionProtocol.pathLimit) }
    static var url: Self { text(limit: SupervisionProtocol.urlLimit) }
}

extension Layout<[UInt8]> {
    static var token: Self { bytes(limit: SupervisionProtocol.tokenLength) }
}
