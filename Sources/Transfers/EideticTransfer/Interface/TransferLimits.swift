/// The limits of requests, applications and the whole service.
package enum TransferLimits {
    package static let urlLength = 32_768
    package static let headerLength = 16_384
    package static let noteLength = 4_096
    package static let resumeDataLength = 4_096
    /// The largest number of header fields of a message.
    package static let fieldCount = 1_024
    /// The largest number of transfers in one command.
    package static let batch = 1_024
    /// The largest number of bytes of the message of a failure; a longer one is truncated.
    package static let messageLength = 4_096
    /// The largest number of sessions of an application.
    package static let sessionCount = 64
    /// The largest number of transfers of an application whose events are not acknowledged.
    package static let transferCount = 10_000
    /// The largest number of connections to one host.
    package static let connectionsPerHost = 6
    /// The largest number of applications whose uploads are being copied.
    package static let copyingApplications = 16
    /// The largest number of additions with uploads of an application that are being copied.
    package static let copiesPerApplication = 64
    /// The largest number of connections.
    package static let connections = 16
}
