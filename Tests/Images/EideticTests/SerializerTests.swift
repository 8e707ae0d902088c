import Eidetic
import EideticCore
import EideticTestSupport
import Testing

/// A cipher for tests: every byte is changed by the length of the key, and a marker stands before them.
private final class Cipher: Sendable {
    private let isLockedState = Guarded(false)

    var isLocked: Bool {
        get { isLockedState.withLock { $0 } }
        set { isLockedState.withLock { $0 = newValue } }
    }

    var serializer: ImageCache.Serializer {
        ImageCache.Serializer { image, bytes, key throws(EideticError) in
            if let bytes { return Self.seal(bytes, for: key) }
            guard let image else { return [] }
            return Self.seal(try image.encoded(as: .png), for: key)
        } decode: { [self] bytes, key throws(EideticError) in
            guard !isLocked, bytes.starts(with: Array("sealed".utf8)) else {
                throw EideticError(.permissionDenied, message: "\(key) is not sealed, or the cipher is locked")
            }
            return bytes.dropFirst(6).map { $0 ^ UInt8(truncatingIfNeeded: key.utf8.count) }
        }
    }

    static func seal(_ bytes: [UInt8], for key: String) -> [UInt8] {
        Array("sealed".utf8) + bytes.map { $0 ^ UInt8(truncatingIfNeeded: key.utf8.count) }
    }
}

@Suite("Loads and the serializer of the cache", .timeLimit(.minutes(2)), .needsNginx)
struct SerializerTests {
    private let cipher = Cipher(), size = PixelSize(width: 100, height: 100)

    /// Returns a pipeline over the fixture's directory, as the next run of a program creates it.
    private func nextRun(
        _ fixture: PipelineFixture,
        change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) throws -> ImagePipeline {
        try fixture.nextRun {
            $0.serializer = cipher.serializer
            $0.derivedImages.policy = .both
            change(&$0)
        }
    }

    /// Returns the beginnings of all entries on disk.
    private func beginnings(in fixture: PipelineFixture) async throws -> [String] {
        let disk = try #require(try nextRun(fixture).configuration.diskCache)
        var beginnings: [String] = []
        for entry in try disk.blocking.entries() {
            let bytes = try await disk.read(entry.key, allowingExpired: true)?.bytes ?? []
            beginnings.append(String(decoding: bytes.prefix(6), as: UTF8.self))
        }
        return beginnings
    }

    @Test("C16 a load reads an entry that the cache's serializer wrote, and does not replace it")
    func reads() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(width: 400, height: 300)
        let image = try TestImage.image(width: 40, height: 30)
        try await nextRun(fixture).cache.insert(image, for: .init(request))
        for options in [ImageOptions(), .avoidDecode, .progressive] {
            let response = try await load(request.with(options: options), by: try nextRun(fixture))
            #expect(response.source == .disk && response.image.size == image.size, "\(options)")
        }
        let pipeline = try nextRun(fixture)
        _ = try await load(request, by: pipeline)
        let hit = try await load(request.includingBytes, by: pipeline)
        #expect(hit.source == .memory && hit.encodedBytes.map { ImageFormat.detect(in: $0) == .format(.png) } == true)
        #expect(try await fixture.server.requests().isEmpty)
        #expect(try await beginnings(in: fixture) == ["sealed"])
    }

    @Test("C08 for an entry that a serializer has packed a file is made on request, which is the image that was loaded")
    func file() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(width: 40, height: 30)
        let received = try #require(
            try await load(request.includingBytes, by: try nextRun(fixture)).encodedBytes
        )
        let cache = try nextRun(fixture).cache, directory = fixture.directory.path(of: "files")
        let entry = try #require(cache.path(for: .init(request)))
        #expect(try FileSystem().contents(of: entry).starts(with: Array("sealed".utf8)))
        let path = try #require(try await cache.writeFile(for: .init(request), to: directory))
        #expect(path.hasSuffix(".png"))
        #expect(try FileSystem().contents(of: path) == received)
    }

    @Test("C16 what a load stores goes through the serializer, and nothing is on disk in the clear")
    func writes() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: size)
        #expect(try await load(request, by: try nextRun(fixture)).source == .network)
        #expect(try await load(request, by: try nextRun(fixture)).source == .disk)
        #expect(try await nextRun(fixture).cache.image(for: .init(request.name))?.size.width == 400)
        #expect(try nextRun(fixture).makeCache(configuration: .init()).blocking.image(for: .init(request)) != nil)
        #expect(try await beginnings(in: fixture) == ["sealed"])
        #expect(try await fixture.server.requests().count == 1)
    }

    @Test("C16 C20 a sealed entry is confirmed by its server, and stays as it is")
    func revalidation() async throws {
        let fixture = try await PipelineFixture(.init(server: #"add_header Cache-Control "no-cache";"#))
        let request = try fixture.serve(width: 400, height: 300)
        for isFirst in [true, false, false] {
            let pipeline = try nextRun(fixture) { $0.freshness = .http }
            #expect(try await load(request, by: pipeline).source == (isFirst ? .network : .disk))
        }
        #expect(try await fixture.server.requests().map(\.status) == [200, 304, 304])
        #expect(try await beginnings(in: fixture) == ["sealed"])
    }

    @Test("C23 an image that a program stored in its size is read through the serializer")
    func derived() async throws {
        let fixture = try await PipelineFixture()
        let request = ImageRequest("\(fixture.server.url)/absent.png", size: PixelSize(width: 8, height: 8))
        let image = try TestImage.image(width: 8, height: 6, sourceSize: PixelSize(width: 80, height: 60))
        try await nextRun(fixture).cache.insert(image, for: .init(request))
        let response = try await load(request, by: try nextRun(fixture))
        #expect(response.source == .disk && response.image.size == image.size)
        #expect(try await beginnings(in: fixture) == ["sealed"])
    }

    @Test("C16 an entry that the serializer cannot read is replaced sealed; one that a program has sized stays")
    func unreadable() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(width: 400, height: 300)
        _ = try await load(request, by: try nextRun(fixture) { $0.serializer = .init() })
        #expect(try await beginnings(in: fixture).allSatisfy { $0 != "sealed" })
        #expect(try await load(request, by: try nextRun(fixture)).source == .network)
        #expect(try await beginnings(in: fixture) == ["sealed"])
        let own = ImageRequest("\(fixture.server.url)/own.png", size: PixelSize(width: 8, height: 8))
        try await nextRun(fixture).cache.insert(
            try TestImage.image(width: 8, height: 6, sourceSize: PixelSize(width: 80, height: 60)),
            for: .init(own)
        )
        cipher.isLocked = true
        let offline = own.with(options: [], cachePolicy: .cachedOnly)
        #expect(await errorCode { _ = try await load(offline, by: try nextRun(fixture)) } == .cacheMiss)
        cipher.isLocked = false
        #expect(try await load(offline, by: try nextRun(fixture)).source == .disk)
    }

    @Test("C16 an image that the serializer refuses is delivered, not stored; a broken one behind it is removed")
    func refusals() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, cachePolicy: .afterStorage)
        let refusing = try nextRun(fixture) {
            $0.serializer = .init(
                encode: { _, _, key throws(EideticError) in throw EideticError(.encodingFailed, message: key) },
                decode: { bytes, _ in bytes }
            )
        }
        let response = try await load(request, by: refusing)
        #expect(response.source == .network && response.storeError?.code == .encodingFailed)
        #expect(try await beginnings(in: fixture).isEmpty)
        let disk = try #require(try nextRun(fixture).configuration.diskCache)
        try await disk.insert(Cipher.seal(Array("no image".utf8), for: request.name), for: request.name)
        #expect(try await load(request, by: try nextRun(fixture)).source == .network)
        #expect(try await load(request, by: try nextRun(fixture)).source == .disk)
    }
}

extension ImageRequest {
    /// The request for the image with its bytes.
    fileprivate var includingBytes: ImageRequest {
        var request = self
        request.cachePolicy.includesBytes = true
        return request
    }
}
