import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import EideticLifecycle
import Testing

@Suite("The example of a background fetch", .timeLimit(.minutes(2)))
struct ExampleTests {
    /// A bitmap of 8 × 8 red pixels.
    private static let bitmap: [UInt8] = {
        func word(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
        let header = [0x42, 0x4d] + word(54 + 192) + word(0) + word(54)
        let information = word(40) + word(8) + word(8) + [1, 0, 24, 0] + word(0) + word(192) + word(0) + word(0)
        let pixels = (0..<64).flatMap { _ in [0, 0, 255] as [UInt8] }
        return header + information + word(0) + word(0) + pixels
    }()

    @Test(
        "B18 an application that is woken in the background loads an image, shows it, raises the badge, ends with data"
    )
    func fetches() async throws {
        let nginx = try await Nginx()
        let url = try nginx.addFile(Self.bitmap, at: "image.bmp")
        let harness = try await WakeHarness(ControlGroups.kinds[0], withBus: true)
        let desktop = try await harness.start("notification-server")
        let cache = try TemporaryDirectory(named: "cache")
        var program = ProgramDescription(executable: Daemon.executable("BackgroundFetch"))
        program.arguments = [url]
        program.environment = ["PATH=/usr/bin:/bin", "XDG_CACHE_HOME=\(cache.path)", "HOME=\(cache.path)"]
        let identifier = "org.eidetic.BackgroundFetch"
        try harness.daemon.perform(.install(identifier: identifier, program: program))
        try harness.daemon.perform(.launch(identifier: identifier, url: nil, inBackground: false))
        await harness.daemon.expectState(.active, of: identifier)
        try await harness.daemon.suspend(identifier)
        try harness.daemon.perform(.simulate(identifier: identifier, .fetch))
        await harness.daemon.expectOutput("the badge is 1; ends with new data")
        #expect(harness.daemon.output.contains("▀"))
        #expect(await desktop.waitForOutput("badge application://\(identifier).desktop 1\n"))
        await harness.daemon.expectState(.suspended, of: identifier)
        #expect(try harness.log(identifier).contains { $0.contains("fetch wake") && $0.hasSuffix("newData") })
        await harness.finish()
    }
}
