import Eidetic
import EideticCore
import EideticTestSupport
import Testing

/// A transform that records the name of the thread on which it is applied.
final class ThreadRecorder: ImageTransform {
    let key = "thread"
    let names = Guarded<[String]>([])

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        let name = (try? FileSystem().contents(of: "/proc/thread-self/comm")) ?? []
        names.withLock { $0.append(String(decoding: name.dropLast(), as: UTF8.self)) }
        return pixels
    }
}

@Suite("Threads that decode", .timeLimit(.minutes(2)), .needsNginx)
struct DecodingThreadTests {
    @Test("L12 an image is decoded and transformed on a thread of the pipeline, and needs no decoding when drawn")
    func thread() async throws {
        let fixture = try await PipelineFixture()
        let url = try fixture.server.addFile(try TestImage.png(width: 64, height: 48), at: "a.png")
        let threads: [(DecodePolicy, String)] = [(.inProcess, "eidetic decode"), (.sandboxed, "eidetic sandbox")]
        for (policy, thread) in threads {
            let recorder = ThreadRecorder()
            var request = ImageRequest(url).with(rendering: .init(transform: recorder))
            request.decodePolicy = policy
            let image = try await fixture.pipeline.image(for: request)
            #expect(image.isDecoded)
            #expect(recorder.names.withLock { $0 } == [thread])
            fixture.pipeline.removeAllFromMemory()
        }
    }

    @MainActor
    @Test("L12 an image is decoded while the main thread is blocked")
    func blockedMainThread() async throws {
        let fixture = try await PipelineFixture(), decoded = Gate()
        let request = try fixture.serve("large.png", width: 1_000, height: 1_000)
        let load = Task.detached { [pipeline = fixture.pipeline] in
            defer { decoded.open() }
            return try await pipeline.image(for: request)
        }
        decoded.block()
        #expect(try await load.value.isDecoded)
    }
}
