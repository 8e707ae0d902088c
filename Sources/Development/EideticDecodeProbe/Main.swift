import CTestSupport
import EideticCodecs
import EideticCore
import EideticSandbox
import Glibc

/// A decoding process that is taken over: after the request for an image it does what its first argument names.
///
/// usage: EideticDecodeProbe ATTACK, with a socket as its descriptor 3
@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 2, let attack = Attack(rawValue: arguments[1]) else { exit(64) }
        if attack == .denied { eidetic_deny_restrictions() }
        if attack == .mute { pause() }
        let restrictions = HelperRestrictions.apply(readable: attack == .fonts ? HelperFonts.directories : [])
        var probe = Probe(attack: attack, socket: PacketSocket(adopting: DecodeHelper.descriptor))
        var description = HelperDescription(restrictions: restrictions, formats: ["png"], addressSpace: 256 << 20)
        if attack == .older { description.version -= 1 }
        if attack == .newer { description.version += 1 }
        probe.send(.ready(description))
        if attack == .speaksFirst { probe.send(.failure(.corrupt, message: "unbidden")) }
        probe.run()
    }
}

/// The behaviour of the process.
enum Attack: String, CaseIterable {
    /// Tries what the system must refuse, and replies with what it did not.
    case escapes
    /// The same in a process that can read fonts.
    case fonts
    /// Leaves what system calls the restrictions need denied, as in a container without them.
    case denied
    /// Does not even say that it is ready.
    case mute
    /// Is of another version.
    case older, newer
    /// Replies before the first request.
    case speaksFirst
    case exit, crash, loop, sleep, memory
    /// Replies that lie.
    case garbage, oversized, negative, otherReply, wrongSize, manyFrames, wrongPart, wrongDurations, unbidden,
        largeAtOnce
    /// Keeps its pixels writable by a mapping or by a descriptor, and writes over those of an image that was delivered.
    case mapped, open, window, rewrites
    /// Replies to requests for animations that lie, and frames that do not come: of all, or of the second animation.
    case animationOversized, animationFrames, animationReply, animationDurations, frameCrash, frameLoop, secondLoops
    case growingMemory, slowStart, longLoop, vanishing, incomplete
}
