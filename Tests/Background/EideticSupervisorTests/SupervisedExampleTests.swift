import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import EideticLifecycle
import Testing

/// The examples, supervised by their desktop entries.
@Suite("Examples under the supervisor", .serialized, .timeLimit(.minutes(5)))
struct SupervisedExampleTests {
    /// Returns the desktop entry of an example.
    private func entry(_ example: String) throws -> String {
        let directory = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        let path = "\(directory)/Examples/\(example)/org.eidetic.\(example).desktop"
        return String(decoding: try FileSystem().contents(of: path), as: UTF8.self)
    }

    @Test("B10 the desktop entries of the examples are valid")
    func entries() throws {
        let gallery = try Manifest(
            parsing: Array(try entry("Gallery").utf8),
            identifier: "org.eidetic.Gallery",
            path: ""
        )
        #expect(gallery.modes == [.transfers] && gallery.unknownModes.isEmpty && gallery.programName == "Gallery")
        #expect(gallery.backgroundBudget == .seconds(30) && gallery.schemes == ["eidetic-gallery"])
        let alarm = try Manifest(parsing: Array(try entry("Alarm").utf8), identifier: "org.eidetic.Alarm", path: "")
        #expect(alarm.modes.isEmpty && alarm.backgroundBudget == .seconds(600) && alarm.programName == "Alarm")
    }

    @Test("B18 the alarm rings in the background and is then suspended, launched by its desktop entry")
    func alarm() async throws {
        let directory = try TemporaryDirectory(named: "entries")
        // A minute of 0.2 s.
        let text = try entry("Alarm").replacing("Exec=Alarm", with: "Exec=\(Daemon.executable("Alarm")) 5 0.2")
        _ = try directory.write(Array(text.utf8), to: "org.eidetic.Alarm.desktop")
        let daemon = try await Daemon(
            ControlGroups.kinds[0],
            ["--limit", "idle=5", "--applications", directory.path]
        )
        let identifier = "org.eidetic.Alarm"
        try daemon.perform(.launch(identifier: identifier, url: nil, inBackground: false))
        await daemon.expectOutput("The alarm rings in 5.0 minutes.")
        try daemon.perform(.background(identifier: identifier))
        await daemon.expectOutput("In the background; the alarm is still set.")
        await daemon.expectOutput("Ring!")
        await daemon.expectState(.suspended, of: identifier)
        // Nothing is declared, so nothing wakes it.
        #expect(try daemon.request(.wake(identifier: identifier, kind: .fetch)) != [.done])
        await daemon.finish()
    }
}
