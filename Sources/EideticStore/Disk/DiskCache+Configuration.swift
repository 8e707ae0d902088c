public import EideticCore

extension DiskCache {
    /// How a disk cache works; all is given at creation, so that nothing happens under a default that was not wanted.
    public struct Configuration: Sendable, Hashable {
        /// Where the cache is.
        ///
        /// An absolute path; made with mode 0700, with the directories above it, where it is not there.
        public var directory: String

        /// The most bytes that the directory takes on the device, over all processes that use it.
        ///
        /// Allocated bytes of the entries, more than zero; `nil`, the default, is 2 % of what is free on the file
        /// system when the cache is opened, between 64 and 512 MiB.
        public var sizeLimit: ByteCount?

        /// How long an entry is served, counted from its write, where it has no expiry of its own.
        ///
        /// One week by default.
        public var maximumAge: Duration = .seconds(7 * 24 * 3_600)

        /// Whether a write is on the device before it is reported as done (`fdatasync`).
        ///
        /// False by default: the worst that a power cut then does is a miss, since every entry is verified.
        public var isDurable = false

        /// Whether the directory is only read, as a bundle of pictures is.
        ///
        /// Writes then fail with `permissionDenied`. False by default.
        public var isReadOnly = false

        /// Creates a configuration with the defaults.
        public init(directory: String) { self.directory = directory }
    }

    /// The directory for a namespace by the rules of XDG: `$XDG_CACHE_HOME/eidetic/NAMESPACE`.
    ///
    /// Without a usable `XDG_CACHE_HOME` it is below `$HOME/.cache`, and without a home below `/var/tmp` with the
    /// user's number. Characters that cannot stand in a file's name become `_`.
    /// - SeeAlso: XDG Base Directory Specification 0.8.
    public static func defaultDirectory(namespace: String = "default") -> String {
        let name = String(namespace.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        let isReserved = name.isEmpty || name == "." || name == ".."
        return "\(baseDirectory())/eidetic/\(isReserved ? "_" : name)"
    }

    private static func baseDirectory() -> String {
        if let cache = environmentVariable("XDG_CACHE_HOME"), cache.hasPrefix("/") { return cache }
        if let home = environmentVariable("HOME"), home.hasPrefix("/") { return "\(home)/.cache" }
        return "/var/tmp/eidetic-\(userNumber())"
    }
}
