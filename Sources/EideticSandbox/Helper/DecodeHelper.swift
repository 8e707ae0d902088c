import CLinux
import EideticCodecs
import EideticCore
import EideticWire
import Glibc

/// A process that decodes images for another one, without files, network and programs.
///
/// It is started with a socket as its descriptor 3, and ends with it.
package enum DecodeHelper {
    /// The one argument of a program that is started as a decoding process.
    package static let argument = "--eidetic-decode-helper"

    /// The number of the descriptor of the socket.
    package static let descriptor: Int32 = 3

    /// A Boolean value indicating whether this program was started as a decoding process.
    package static var isRequested: Bool { CommandLine.arguments.dropFirst() == [argument] }

    /// Restricts this process, and decodes images until its socket is closed.
    ///
    /// To be called before threads are started.
    package static func run() -> Never {
        let socket = PacketSocket(adopting: descriptor)
        ImageDecoder.prepareLibraries()
        let addressSpace = addressSpace
        let description = HelperDescription(
            restrictions: HelperRestrictions.apply(),
            formats: ImageDecoder.supportedFormats.map(\.rawValue),
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
    /// - Returns: Those that were applied.
    package static func apply() -> HelperRestrictions {
        var applied: HelperRestrictions = []
        if eidetic_limit_own_files() == 0 { applied.insert(.resources) }
        let namespaces = Int(eidetic_leave_namespaces())
        if namespaces & Int(EIDETIC_NAMESPACE_USER) != 0 { applied.insert(.user) }
        if namespaces & Int(EIDETIC_NAMESPACE_NETWORK) != 0 { applied.insert(.network) }
        if namespaces & Int(EIDETIC_NAMESPACE_FILES) != 0 { applied.insert(.files) }
        // After the namespaces, which the kernel takes for a change of the user.
        if eidetic_end_with_parent() != 0 { _exit(0) }
        let hasNoCapabilities = eidetic_drop_capabilities() == 0
        if eidetic_forbid_new_privileges() == 0, hasNoCapabilities { applied.insert(.privileges) }
        if Landlock.version > 0, Landlock.restrict(readable: [], writable: []) { applied.insert(.landlock) }
        if eidetic_restrict_to_decoding() == 0 { applied.insert(.systemCalls) }
        return applied
    }
}
