#if GTK
import EideticCore
import EideticTestSupport

/// The colour of a pixel on the screen.
struct Colour: Equatable, CustomStringConvertible {
    let red, green, blue: UInt8

    static let red = Colour(red: 220, green: 20, blue: 30)
    static let green = Colour(red: 20, green: 160, blue: 40)
    static let blue = Colour(red: 30, green: 60, blue: 210)
    static let yellow = Colour(red: 240, green: 220, blue: 40)

    /// Returns `true` if both colours are the same, apart from rounding on the way to the screen.
    func looks(like other: Colour, within tolerance: Int = 6) -> Bool {
        zip([red, green, blue], [other.red, other.green, other.blue]).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }

    var description: String { "(\(red), \(green), \(blue))" }
}

/// A screenshot of the scene's window.
struct Screenshot {
    let width, height: Int
    private let bytes: [UInt8]

    /// The title of the captured window.
    static let windowName = "Eidetic scene"

    /// Captures the window from the display server.
    static func capture() async throws -> Screenshot {
        let result = try await Subprocess.run("import", arguments: ["-window", windowName, "-depth", "8", "ppm:-"])
        guard let screenshot = Screenshot(ppm: result.output) else {
            throw EideticError(.corrupt, message: "no screenshot: \(result.errorText)")
        }
        return screenshot
    }

    /// Reads a binary portable pixmap: "P6", width, height, 255, then the pixels.
    private init?(ppm: [UInt8]) {
        var position = 0
        var fields: [String] = []
        while fields.count < 4 {
            let end = ppm[position...].firstIndex { [0x20, 0x0a].contains($0) }
            guard let end else { return nil }
            fields.append(String(decoding: ppm[position..<end], as: UTF8.self))
            position = end + 1
        }
        guard fields[0] == "P6", let width = Int(fields[1]), let height = Int(fields[2]),
            ppm.count - position >= 3 * width * height
        else { return nil }
        self.width = width
        self.height = height
        bytes = Array(ppm[position...])
    }

    subscript(x: Int, y: Int) -> Colour {
        let offset = 3 * (y * width + x)
        return Colour(red: bytes[offset], green: bytes[offset + 1], blue: bytes[offset + 2])
    }
}
#endif
