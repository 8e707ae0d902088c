#if GTK
import EideticTestSupport
import Testing

@Suite("GTK list", .timeLimit(.minutes(3)), .needsGallery)
struct ImageListTests {
    @Test("L01 the list of the documentation shows an image in each row")
    func shows() async throws {
        let server = try await Nginx(.init(server: "")), screen = try await Screen()
        let urls = try (0..<3).map { try server.addFile(try RunningGallery.encodedImage(number: $0), at: "\($0).png") }
        let environment = screen.environment(changes: [:])
        let list = try Subprocess(
            Scene.executablePath(of: "ImageList"),
            arguments: urls,
            environment: environment
        )
        // The search ends when a window has this title.
        let search = try Subprocess(
            "xdotool",
            arguments: ["search", "--sync", "--onlyvisible", "--name", "^3 of 3 images$"],
            environment: environment
        )
        let result = await withTaskCancellationHandler {
            await search.waitUntilExit()
        } onCancel: {
            search.kill()
        }
        #expect(result.status == .exited(0), "\(list.errorsSoFar)")
        #expect(try await server.requests().count == 3)
        list.kill()
        _ = await list.waitUntilExit()
    }
}
#endif
