#if GTK
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// A display server without a screen that has a touch screen: Xorg with its drivers for no monitor and for tests of input.
enum TouchScreen {
    static let size = (width: 1280, height: 1024)

    /// Whether all is there that it takes; only root may tell Xorg where its configuration is.
    static var isInstalled: Bool {
        let drivers = ["drivers/dummy", "input/inputtest"]
        return geteuid() == 0 && Subprocess.executablePath(for: "Xorg") != nil
            && drivers.allSatisfy { access("/usr/lib/xorg/modules/\($0)_drv.so", R_OK) == 0 }
    }

    /// The server's program and arguments; on a seat that is not the first it needs no terminal.
    ///
    /// What it says besides the number of its display is in the log.
    static func command(_ configuration: String, log: String) -> [String] {
        let quiet = ["sh", "-c", "exec Xorg \"$@\" 2>/dev/null", "sh"]
        return quiet + ["-config", configuration, "-logfile", log, "-seat", "seat-eidetic", "-noreset"]
    }

    static func configuration(_ socket: String) -> String {
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

    /// What the driver is told.
    private enum Message: UInt32 { case version = 0, waitForSync = 1, touch = 6 }
    /// As XInput numbers them.
    private enum Touch: UInt32 { case begin = 18, update = 19, end = 20 }

    init(_ path: String) throws {
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
        send(.version, bytes(UInt16(1)) + bytes(UInt16(1)))
        _ = answer(12)
    }

    /// Touches a place of the screen and lets go.
    func tap(_ place: (x: Int, y: Int)) async throws { try await drag(from: place, to: place, steps: 1) }

    /// Moves over the screen, in about 10 milliseconds a step: a finger has a speed, which programs look at.
    func drag(from start: (x: Int, y: Int), to end: (x: Int, y: Int), steps: Int) async throws {
        try await pool.run { [self] _ throws(EideticError) in
            touch(.begin, start)
            for step in 1...steps {
                usleep(10_000)
                let x = start.x + (end.x - start.x) * step / steps, y = start.y + (end.y - start.y) * step / steps
                touch(.update, (x, y))
            }
            touch(.end, end)
            send(.waitForSync, [])
            _ = answer(8)
        }
    }

    private func touch(_ touch: Touch, _ place: (x: Int, y: Int)) {
        var values = [Double](repeating: 0, count: 128)
        // The axes go from 0 to 65535; the third to fifth are not used.
        values[0] = (Double(place.x) + 0.5) / Double(TouchScreen.size.width) * 65_535
        values[1] = (Double(place.y) + 0.5) / Double(TouchScreen.size.height) * 65_535
        // No values without acceleration; a mask of 64 axes; four bytes until the numbers.
        let mask: [UInt8] = [0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        send(.touch, bytes(UInt32(1)) + bytes(touch.rawValue) + mask + values.flatMap { bytes($0) })
    }

    /// Sends a message: its length with these eight bytes, its type, what is in it.
    private func send(_ message: Message, _ content: [UInt8]) {
        let whole = bytes(UInt32(content.count + 8)) + bytes(message.rawValue) + content
        #expect(write(socket.rawValue, whole, whole.count) == whole.count)
    }

    private func answer(_ count: Int) -> [UInt8] {
        var answer = [UInt8](repeating: 0, count: count)
        #expect(recv(socket.rawValue, &answer, count, Int32(MSG_WAITALL)) == count)
        return answer
    }

    private func bytes<Value: BitwiseCopyable>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
}
#endif
