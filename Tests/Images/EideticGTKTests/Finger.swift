#if GTK
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// A headless display server with a touch screen: Xorg with its drivers for no monitor and for tests of input.
enum TouchScreen {
    static let size = (width: 1280, height: 1024)

    /// A Boolean value indicating whether Xorg and the drivers are installed; only root may pass it a configuration.
    static var isInstalled: Bool {
        let drivers = ["drivers/dummy", "input/inputtest"]
        return geteuid() == 0 && Subprocess.executablePath(for: "Xorg") != nil
            && drivers.allSatisfy { access("/usr/lib/xorg/modules/\($0)_drv.so", R_OK) == 0 }
    }

    /// Returns the server's program and arguments; on a seat that is not the first it needs no terminal.
    ///
    /// All output but the number of the display goes to the log.
    static func command(configuration: String, log: String) -> [String] {
        let quiet = ["sh", "-c", "exec Xorg \"$@\" 2>/dev/null", "sh"]
        return quiet + ["-config", configuration, "-logfile", log, "-seat", "seat-eidetic", "-noreset"]
    }

    static func configuration(socket: String) -> String {
        """
        Section "ServerFlags"
            Option "AutoAddDevices" "false"
        EndSection
        Section "Device"
            Identifier "none"
            Driver "dummy"
            VideoRam 16384
        EndSection
        Section "Monitor"
            Identifier "none"
            HorizSync 5-1000
            VertRefresh 5-200
        EndSection
        Section "Screen"
            Identifier "screen"
            Device "none"
            Monitor "none"
            DefaultDepth 24
            SubSection "Display"
                Depth 24
                Modes "\(size.width)x\(size.height)"
            EndSubSection
        EndSection
        Section "InputDevice"
            Identifier "finger"
            Driver "inputtest"
            Option "DeviceType" "Touch"
            Option "SocketPath" "\(socket)"
        EndSection
        Section "ServerLayout"
            Identifier "layout"
            Screen "screen"
            InputDevice "finger" "SendCoreEvents"
        EndSection
        """
    }
}

/// One finger on a touch screen.
///
/// - SeeAlso: inputtest(4), and `xf86-input-inputtest-protocol.h` in Debian's `xserver-xorg-dev`.
final class Finger: Sendable {
    private let socket: FileDescriptor
    private let pool = WorkPool(name: "finger", maximumThreadCount: 1)

    /// The types of the driver's messages.
    private enum Message: UInt32 { case version = 0, waitForSync = 1, touch = 6 }
    /// The types of XInput's touch events.
    private enum Touch: UInt32 { case begin = 18, update = 19, end = 20 }

    init(socketPath path: String) throws {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        socket = FileDescriptor(adopting: Glibc.socket(AF_UNIX, kind, 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SystemError(.open, errorNumber: errno, path: path) }
        // Version 1.1 of the protocol.
        send(.version, content: bytes(of: UInt16(1)) + bytes(of: UInt16(1)))
        _ = receive(byteCount: 12)
    }

    /// Taps at a point of the screen.
    func tap(at point: (x: Int, y: Int)) async throws { try await drag(from: point, to: point, steps: 1) }

    /// Drags across the screen with about 10 milliseconds a step, since programs evaluate the speed of a finger.
    func drag(from start: (x: Int, y: Int), to end: (x: Int, y: Int), steps: Int) async throws {
        try await pool.run { [self] _ throws(EideticError) in
            touch(.begin, at: start)
            for step in 1...steps {
                usleep(10_000)
                let x = start.x + (end.x - start.x) * step / steps, y = start.y + (end.y - start.y) * step / steps
                touch(.update, at: (x, y))
            }
            touch(.end, at: end)
            send(.waitForSync, content: [])
            _ = receive(byteCount: 8)
        }
    }

    private func touch(_ touch: Touch, at point: (x: Int, y: Int)) {
        var values = [Double](repeating: 0, count: 128)
        // The axes go from 0 to 65535; the third to fifth are not used.
        values[0] = (Double(point.x) + 0.5) / Double(TouchScreen.size.width) * 65_535
        values[1] = (Double(point.y) + 0.5) / Double(TouchScreen.size.height) * 65_535
        // The message has no unaccelerated values, a mask of 64 axes, and four bytes of padding.
        let mask: [UInt8] = [0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        send(
            .touch,
            content: bytes(of: UInt32(1)) + bytes(of: touch.rawValue) + mask + values.flatMap { bytes(of: $0) }
        )
    }

    /// Sends a message: its length including this header of eight bytes, its type, its content.
    private func send(_ message: Message, content: [UInt8]) {
        let packet = bytes(of: UInt32(content.count + 8)) + bytes(of: message.rawValue) + content
        #expect(write(socket.rawValue, packet, packet.count) == packet.count)
    }

    private func receive(byteCount count: Int) -> [UInt8] {
        var reply = [UInt8](repeating: 0, count: count)
        #expect(recv(socket.rawValue, &reply, count, Int32(MSG_WAITALL)) == count)
        return reply
    }

    private func bytes<Value: BitwiseCopyable>(of value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
}
#endif
