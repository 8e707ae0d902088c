/// The boot of the system, of which the clock of uptimes and the unwritten pages of files are a part.
package enum BootIdentifier {
    /// The kernel's identifier of this boot; empty if it cannot be read.
    package static func current(_ fileSystem: FileSystem) -> String {
        let bytes = (try? fileSystem.contents(of: "/proc/sys/kernel/random/boot_id", limit: 256)) ?? []
        return String(decoding: bytes.filter { $0 > 32 }, as: UTF8.self)
    }
}
