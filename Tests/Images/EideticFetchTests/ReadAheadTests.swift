import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

/// OpenSSL reads more than one record ahead, which libcurl does not know of.
@Suite("Reading ahead over TLS", .needsNginx, .timeLimit(.minutes(1)))
struct ReadAheadTests {
    enum Version: String, CaseIterable { case http1 = "HTTP/1.1", http2 = "HTTP/2" }

    private let server: Nginx
    private let port: Int

    init() async throws {
        port = try LoopbackPort.unused()
        // Dozens of records in one read; and a server without HTTP/2.
        let http = """
            ssl_buffer_size 1k;
            server {
                listen 127.0.0.1:\(port) ssl;
                ssl_certificate server.pem;
                ssl_certificate_key server.key;
                root files;
            }
            """
        server = try await Nginx(.init(http: http, usesTLS: true))
    }

    private func baseURL(_ version: Version) throws -> String {
        version == .http2 ? try #require(server.secureURL) : "https://localhost:\(port)"
    }

    private func makeDownloader() -> Downloader {
        var configuration = Downloader.Configuration()
        configuration.certificateAuthorityFile = server.authorityFile
        return Downloader(configuration)
    }

    @Test("L20 bodies in small records arrive completely, alone and many at once", arguments: Version.allCases)
    func records(_ version: Version) async throws {
        let (base, downloader) = (try baseURL(version), makeDownloader())
        let sizes = (0..<20).map { 100 + 4_999 * $0 }
        for size in sizes { try server.addFile(Fixture.image(length: size), at: "\(size).png") }
        for size in sizes.prefix(10) {
            let response = try await downloader.fetch(url: "\(base)/\(size).png?alone")
            #expect(response.bytes == Fixture.image(length: size))
            #expect(response.metrics.httpVersion == version.rawValue)
        }
        try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for size in sizes {
                group.addTask { (size, try await downloader.fetch(url: "\(base)/\(size).png").bytes) }
            }
            for try await (size, bytes) in group { #expect(bytes == Fixture.image(length: size)) }
        }
    }

    @Test("L10 a slow reader gets the whole body, and delays no other download", arguments: Version.allCases)
    func backPressure(_ version: Version) async throws {
        let (base, downloader) = (try baseURL(version), makeDownloader())
        let large = Fixture.image(length: 4_000_000), small = Fixture.image(length: 50_000)
        try server.addFile(large, at: "large.png")
        try server.addFile(small, at: "small.png")
        let stream = try await downloader.stream(FetchRequest(url: "\(base)/large.png"))
        var iterator = stream.makeAsyncIterator()
        var bytes = try await iterator.next() ?? []
        for number in 0..<20 {
            #expect(try await downloader.fetch(url: "\(base)/small.png?\(number)").bytes == small)
            bytes += try await iterator.next() ?? []
        }
        while let piece = try await iterator.next() { bytes += piece }
        #expect(bytes == large)
    }
}
