import CLinux
import EideticCore
import EideticTransferEngine
import Glibc

/// Enters the sandbox of the transfer process, tries what it forbids and what it must allow, and prints each outcome.
///
/// usage: eidetic-probe transfer-sandbox DIRECTORY OUTSIDE PORT
enum TransferSandboxProgram {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 3, let port = UInt16(arguments[2]) else { exit(64) }
        let directory = arguments[0]
        let outside = arguments[1]
        let listener = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
        var options = ServiceOptions()
        options.directory = directory
        options.listeners = [listener]
        try Sandbox.enter(options)
        print("landlock \(eidetic_landlock_version())")
        report("write inside") { open("\(directory)/inside", O_WRONLY | O_CREAT, 0o600) }
        report("rename inside") { rename("\(directory)/inside", "\(directory)/renamed") }
        report("read system") { open("/etc/hosts", O_RDONLY) }
        report("connect") { connectTCP(to: port) }
        report("start thread") { startThread() }
        report("write outside") { open("\(outside)/file", O_WRONLY | O_CREAT, 0o600) }
        report("read outside") { open("\(outside)/secret", O_RDONLY) }
        report("remove outside") { unlink("\(outside)/secret") }
        report("start program") { startProgram() }
        report("signal parent") { kill(getppid(), 0) }
        report("listen") { listenTCP() }
        report("stream to a service of the user") { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
        report("packets to a service of the user") { socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0) }
        report("datagram to the journal") { socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
        report("socket pair") { socketPair() }
        report("packet socket") { socket(AF_PACKET, Int32(SOCK_RAW.rawValue), 0) }
    }

    private static func report(_ name: String, attempt: () -> Int32) {
        errno = 0
        print("\(name): \(attempt() >= 0 ? "allowed" : "refused")")
    }

    private static func socketPair() -> Int32 {
        var ends: [Int32] = [-1, -1]
        return socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    }

    private static func startProgram() -> Int32 {
        var process = pid_t()
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        defer { words.forEach { free($0) } }
        return posix_spawn(&process, "/bin/true", nil, nil, &words, nil) == 0 ? 0 : -1
    }

    private static func startThread() -> Int32 {
        var thread = pthread_t()
        guard pthread_create(&thread, nil, { _ in nil }, nil) == 0 else { return -1 }
        return pthread_join(thread, nil) == 0 ? 0 : -1
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func connectTCP(to port: UInt16) -> Int32 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        return withUnsafePointer(to: address(port: port)) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func listenTCP() -> Int32 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        return listen(number, 1)
    }
}
