public import EideticCore

extension DiskCache {
    /// How a disk cache works; all is given at creation, so that nothing happens under a default that was not wanted.
    public struct Configuration: Sendable, Hashable {
        /// Where the cache is.
        ///
        /// An absolute path; made with mode 0700, with the directories above it, where it is not there.
        public var directory: String

        /// The most bytes that the entries take on the device, over all processes that use the directory.
        ///
        /// More than zero; `nil`, the default, is 2 % of what is free on the file system when the cache is opened,
        /// between 64 and 512 MiB. An entry may take half of it.
        public var sizeLimit: ByteCount?

        /// The part of the size limit that derived entries may take when originals want it too.
        ///
        /// From 0 to 1; a quarter by default.
        public var derivedShare = 0.25

        /// The bytes of the file system that stay free for others.
        ///
        /// `nil`, the default, is 1 % of the file system, at most 256 MiB.
        public var minimumFreeSpace: ByteCount?

        /// How long an entry is served where it has no expiry of its own.
        ///
        /// More than zero; one week by default.
        public var maximumAge: Duration = .seconds(7 * 24 * 3_600)

        /// From when ``maximumAge`` counts; from the latest change by default.
        public var ageBasis = AgeBasis.change

        /// Whether a write is on the device before it is reported as done (`fdatasync`).
        ///
        /// False by default: the worst that a power cut then does is a miss, since every entry is verified.
        public var isDurable = false

        /// Whether the directory is only read, as a bundle of pictures is.
        ///
        /// Writes then fail with `permissionDenied`. False by default.
        public var isReadOnly = false

        /// Directories that are searched in their order where the cache itself has no entry; none by default.
        ///
        /// They are only read. Their files carry no checksums.
        public var bundles: [ImageBundle] = []

        /// From when an entry's age counts.
        public enum AgeBasis: Sendable, Hashable, CaseIterable {
            /// Its write; new metadata for the same bytes do not make it younger.
            case creation
            /// Its write, or new metadata: an answer 304 makes it young again.
            case change
            /// Its latest use, to the second.
            ///
            /// It is noted as the file's time of modification, so that a read costs one system call more, or two at most
            /// once a second.
            case access
        }

        /// Creates a configuration with the defaults.
        public init(directory: String) { self.directory = directory }

        /// Throws `invalidArgument` for what cannot work.
        func validate() throws(EideticError) {
            if !directory.hasPrefix("/") || directory.utf8.contains(0) {
                throw Self.invalidArgument("directory \"\(directory)\" is not an absolute path")
            }
            if let sizeLimit, sizeLimit <= .zero {
                throw Self.invalidArgument("size limit \(sizeLimit.bytes) is not above 0")
            }
            if !(0...1).contains(derivedShare) {
                throw Self.invalidArgument("derived share \(derivedShare) is not in 0…1")
            }
            if let minimumFreeSpace, minimumFreeSpace < .zero {
                throw Self.invalidArgument("minimum free space \(minimumFreeSpace.bytes) is below 0")
            }
            if maximumAge <= .zero { throw Self.invalidArgument("maximum age \(maximumAge) is not above 0") }
        }

        private static func invalidArgument(_ reason: String) -> EideticError {
            EideticError(.invalidArgument, message: "disk cache: \(reason)")
        }
    }

    /// The directory for a namespace by the rules of XDG: `$XDG_CACHE_HOME/eidetic/NAMESPACE`.
    ///
    /// Without a usable `XDG_CACHE_HOME` it is below `$HOME/.cache`, and without a home below `/var/tmp` with the
    /// user's number. Characters that cannot stand in a file's name become `_`.
    /// - SeeAlso: XDG Base Directory Specification 0.8.
    public static func defaultDirectory(namespace: String = "default") -> String {
        "\(userCacheDirectory())/eidetic/\(directoryName(of: namespace))"
    }

    /// The name of a namespace's directory.
    package static func directoryName(of namespace: String) -> String {
        let name = String(namespace.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        return name.isEmpty || name == "." || name == ".." ? "_" : name
    }

    private static func userCacheDirectory() -> String {
        if let cacheHome = environmentVariable("XDG_CACHE_HOME"), cacheHome.hasPrefix("/") { return cacheHome }
        if let home = environmentVariable("HOME"), home.hasPrefix("/") { return "\(home)/.cache" }
        return "/var/tmp/eidetic-\(userNumber())"
    }
}
