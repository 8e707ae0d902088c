package import EideticCore
public import EideticHTTP

extension BackgroundURLSession {
    /// The settings of a session; checked when the session is created.
    public struct Configuration: Sendable, Hashable {
        /// The identifier with which the application finds the session again.
        ///
        /// Letters, digits, dots, hyphens and underscores, at most 255 characters, not beginning with a dot. Other
        /// applications may use the same identifier for their sessions.
        public let identifier: String

        /// A Boolean value indicating whether the application is woken or launched when all tasks have ended; `true` by
        /// default.
        ///
        /// Otherwise the events wait until the application runs. Requires a supervisor.
        public var sendsLaunchEvents = true

        /// A Boolean value indicating whether transfers wait for external power and for a network that is not metered;
        /// `false` by default.
        ///
        /// They wait for 24 hours at most. ``TransferTask/waitingReason`` names the unmet condition.
        public var isDiscretionary = false

        /// The longest time without a byte, after which an attempt fails and is retried; 60 s by default.
        ///
        /// More than zero.
        public var timeoutIntervalForRequest: Duration = .seconds(60)

        /// The longest time from the start of a task to its end, including all attempts; 7 days by default.
        ///
        /// More than zero.
        public var timeoutIntervalForResource: Duration = .seconds(7 * 86_400)

        /// The largest number of connections of the session to one host; 6 by default.
        ///
        /// One or more. All applications together have at most 6 connections to one host.
        public var httpMaximumConnectionsPerHost = 6

        /// The header fields of all requests, empty by default; a request's own field of the same name replaces them.
        public var httpAdditionalHeaders = HTTPHeaders()

        /// A Boolean value indicating whether cookies are sent and stored, separately for this application; `true` by
        /// default.
        public var httpShouldSetCookies = true

        /// The program and the socket of the transfer process; tests set them.
        package var service = ServiceLocation.standard
        /// The name of the application to which the session belongs; tests set it.
        package var application = ServiceLocation.applicationName

        /// Creates the configuration of a session with the defaults.
        ///
        /// - Parameter identifier: The identifier of the session.
        public init(identifier: String) { self.identifier = identifier }
    }
}

extension BackgroundURLSession.Configuration {
    /// Throws `invalidArgument` for a setting out of its range.
    package func validate() throws(EideticError) {
        guard Self.isValid(identifier) else {
            throw EideticError(
                .invalidArgument,
                message:
                    "invalid identifier \"\(identifier)\": use letters, digits, '.', '-' and '_', not beginning with '.'"
            )
        }
        guard timeoutIntervalForRequest > .zero, timeoutIntervalForResource > .zero else {
            throw EideticError(.invalidArgument, message: "\(identifier): a time-out must be greater than zero")
        }
        guard httpMaximumConnectionsPerHost > 0 else {
            throw EideticError(
                .invalidArgument,
                message: "\(identifier): httpMaximumConnectionsPerHost must be greater than zero"
            )
        }
        try httpAdditionalHeaders.validate()
    }

    private static func isValid(_ identifier: String) -> Bool {
        let allowed = identifier.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "._-".utf8.contains(byte)
            }
        }
        return allowed && !identifier.isEmpty && identifier.utf8.count <= 255 && identifier.first != "."
    }
}
