/// A notification from the system or the application, which can be held while the application is suspended.
public struct Notice: Sendable, Hashable {
    /// The kind of a notice; applications create their own kinds with ``init(_:)``.
    public struct Name: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The text of the name.
        package let rawValue: String

        /// Creates a name.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Creates a name from a string literal.
        public init(stringLiteral value: String) { rawValue = value }

        /// Posted after the time of day was set.
        public static let clockChanged: Name = "clockChanged"

        /// Posted after the time zone changed; the payload has its `identifier` if `/etc/localtime` is a symbolic link.
        public static let timeZoneChanged: Name = "timeZoneChanged"

        /// Posted after the system's language changed (`/etc/locale.conf`, `/etc/default/locale`).
        public static let localeChanged: Name = "localeChanged"

        /// Posted after a file of ``Application/Configuration/settingsFiles`` changed; the notice's object is its path.
        public static let settingsChanged: Name = "settingsChanged"

        /// Posted after the set of connected network interfaces changed.
        ///
        /// The payload has `interfaces`, their names separated by commas, and `isConnected`, `true` or `false`.
        public static let connectivityChanged: Name = "connectivityChanged"
    }

    /// The kind of the notice.
    public let name: Name
    /// The subject of the notice; empty for the whole application.
    public let object: String
    /// Further values, by key.
    public let payload: [String: String]
    /// The number of notices that were coalesced into this one.
    public internal(set) var coalescedCount = 1
    /// A Boolean value indicating whether earlier notices were dropped because too many were held.
    public internal(set) var isPrecededByLoss = false

    /// Creates a notice.
    public init(_ name: Name, object: String = "", payload: [String: String] = [:]) {
        self.name = name
        self.object = object
        self.payload = payload
    }
}

/// The treatment of notices while the application is suspended.
public enum SuspensionBehavior: Sendable, Hashable, CaseIterable {
    /// Notices are dropped.
    case drop
    /// One notice per name and object is delivered on return: the newest, with the number of coalesced notices.
    case coalesce
    /// The newest 64 notices are delivered on return, in order; the first one indicates whether others were dropped.
    case hold
    /// Notices are delivered at once.
    case deliverImmediately
}
