import CLinux
import EideticCodecs
import EideticCore
import Glibc

/// A process that decodes images for another one, without files, network and programs.
///
/// It is started with a socket as its descriptor 3, and ends with it.
package enum DecodeHelper {
    /// The first argument of a program that is started as a decoding process; formats whose libraries it loads follow.
    package static let argument = "--eidetic-decode-helper"

    /// The number of the descriptor of the socket.
    package static let descriptor: Int32 = 3

    /// A Boolean value indicating whether this program was started as a decoding process.
    package static var isRequested: Bool { CommandLine.arguments.dropFirst().first == argument }

    /// The formats whose libraries the application asks for.
    private static var requestedFormats: Set<ImageFormat> {
        Set(CommandLine.arguments.dropFirst(2).compactMap { ImageFormat(rawValue: $0) })
    }

    /// Restricts this process, and decodes images until its socket is closed.
    ///
    /// To be called before threads are started.
    package static func run() -> Never {
        let socket = PacketSocket(adopting: descriptor)
        let requested = requestedFormats, formats = ImageDecoder.prepareLibraries(for: requested)
        let fonts = requested.contains(.svg) && formats.contains(.svg) ? HelperFonts.directories : []
        let addressSpace = addressSpace
        let description = HelperDescription(
            restrictions: HelperRestrictions.apply(readable: fonts),
            formats: formats.map(\.rawValue),
            addressSpace: addressSpace
        )
        var loop = HelperLoop(socket: socket)
        loop.send(.ready(description))
        loop.run()
        _exit(0)
    }

    /// The address space of this process, which is known as long as it can open files.
    private static var addressSpace: Int {
        guard let text = try? FileSystem().contents(of: "/proc/self/statm"),
            let pages = String(decoding: text, as: UTF8.self).split(separator: " ").first.flatMap({ Int($0) })
        else { return 256 << 20 }
        return pages * Int(getpagesize())
    }
}

extension HelperRestrictions {
    /// Applies all restrictions that the system allows to this process, for good.
    ///
    /// - Parameter directories: The directories whose files can be read; without Landlock, none can.
    /// - Returns: Those that were applied.
    package static func apply(readable directories: [String] = []) -> HelperRestrictions {
        var applied: HelperRestrictions = []
        let readable = Landlock.version > 0 ? directories : []
        if eidetic_limit_own_files() == 0 { applied.insert(.resources) }
        let namespaces = leaveNamespaces(showing: readable)
        if namespaces & Int(EIDETIC_NAMESPACE_USER) != 0 { applied.insert(.user) }
        if namespaces & Int(EIDETIC_NAMESPACE_NETWORK) != 0 { applied.insert(.network) }
        if namespaces & Int(EIDETIC_NAMESPACE_FILES) != 0 { applied.insert(.files) }
        // After the namespaces, which the kernel takes for a change of the user.
        if eidetic_end_with_parent() != 0 { _exit(0) }
        let hasNoCapabilities = eidetic_drop_capabilities() == 0
        if eidetic_forbid_new_privileges() == 0, hasNoCapabilities { applied.insert(.privileges) }
        if Landlock.version > 0, Landlock.restrict(readable: readable, writable: []) { applied.insert(.landlock) }
        let readsFiles = !readable.isEmpty && applied.contains(.landlock)
        if eidetic_restrict_to_decoding(readsFiles ? 1 : 0) == 0 { applied.insert(.systemCalls) }
        return applied
    }

    private static func leaveNamespaces(showing directories: [String]) -> Int {
        let copies = directories.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        let paths = copies.map { $0.map { UnsafePointer($0) } }
        return paths.withUnsafeBufferPointer { Int(eidetic_leave_namespaces($0.baseAddress, $0.count)) }
    }
}
