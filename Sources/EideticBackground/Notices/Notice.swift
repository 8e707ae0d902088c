/// News from the system, or of the application's own, that is kept while the application does not run.
public struct Notice: Sendable, Hashable {
    /// What kind of news; own names are made with ``init(_:)``.
    public struct Name: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The name.
        public let rawValue: String

        /// Creates a name.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Creates a name.
        public init(stringLiteral value: String) { rawValue = value }

        /// The time of day was set.
        public static let clockChanged: Name = "clockChanged"

        /// The machine has another time zone; `identifier` in the payload names it, where `/etc/localtime` is a link.
        public static let timeZoneChanged: Name = "timeZoneChanged"

        /// The system's language was changed (`/etc/locale.conf`, `/etc/default/locale`).
        public static let localeChanged: Name = "localeChanged"

        /// A file of ``Application/Configuration/settingsFiles`` was changed; the notice's object is its path.
        public static let settingsChanged: Name = "settingsChanged"

        /// Other network interfaces are connected than before.
        ///
        /// `interfaces` in the payload names them, with commas in between; `isConnected` is `true` or `false`.
        public static let connectivityChanged: Name = "connectivityChanged"
    }

    /// What kind of news it is.
    public let name: Name
    /// What it is about; empty for the whole application.
    public let object: String
    /// What is to be told.
    public let payload: [String: String]
    /// How many notices this one stands for; more than 1 where they were merged.
    public internal(set) var coalescedCount = 1
    /// Whether others before it were dropped, because more were held than may be.
    public internal(set) var isPrecededByLoss = false

    /// Creates a notice.
    public init(_ name: Name, object: String = "", payload: [String: String] = [:]) {
        (self.name, self.object, self.payload) = (name, object, payload)
    }
}

/// What happens to a notice while the application is suspended.
public enum SuspensionBehavior: Sendable, Hashable, CaseIterable {
    /// It is dropped.
    case drop
    /// One is delivered on return: the newest of its name and object, with the number that it stands for.
    case coalesce
    /// All are delivered on return, in order; the newest 64 of them, and the first says so if others were lost.
    case hold
    /// It is delivered at once.
    case deliverImmediately
}
