import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc

extension Suite {
    /// The downloader against curl where packets take their time and some are lost.
    static let fetchLossy = Suite(
        "fetch-lossy",
        "files over a link with delay and loss, against curl -Z; needs root, TUN devices and ip",
        arguments: [
            "files=40  how many files", "parallel=6  how many at once", "rounds=9  how many samples",
            "delay=40  milliseconds there and back", "loss=10  packets of a thousand that are lost, by a fixed list",
        ]
    ) { bench in
        guard geteuid() == 0, access("/dev/net/tun", R_OK | W_OK) == 0, Subprocess.find("ip") != nil else {
            return printError("fetch-lossy: skipped: it needs root, /dev/net/tun and ip")
        }
        let run = try await LossyRun(bench)
        try await run.measure(bench, title: "HTTP/1.1", base: "http://\(LossyLink.serverAddress)")
        try await run.measure(bench, title: "HTTP/2, one connection", base: "https://\(LossyLink.serverAddress)")
    }
}

/// The same files by us and by curl, in turn.
private struct LossyRun {
    private let link: LossyLink
    private let nginx: Subprocess
    private let directory: TemporaryDirectory
    private let count: Int
    private let parallel: Int
    private let rounds: Int
    private static let size = 200_000

    init(_ bench: Bench) async throws {
        count = try bench.number("files", default: 40)
        parallel = try bench.number("parallel", default: 6)
        rounds = try bench.number("rounds", default: 9)
        let delay = Duration.milliseconds(try bench.number("delay", default: 40))
        link = try await LossyLink(delay: delay, lossPerMille: try bench.number("loss", default: 10))
        directory = try TemporaryDirectory("lossy")
        nginx = try await Self.startServer(link.server, directory, count)
    }

    private static func startServer(
        _ thread: NamespaceThread,
        _ directory: TemporaryDirectory,
        _ count: Int
    ) async throws -> Subprocess {
        let (key, certificate) = (directory.path("key.pem"), directory.path("certificate.pem"))
        let words = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=lossy", "-keyout", key, "-out", certificate,
        ]
        guard try await Subprocess.run("openssl", words).status == .exited(0) else {
            throw EideticError(.tlsFailure, "openssl made no certificate")
        }
        var random = SplitMix(state: 7)
        for number in 0..<count {
            var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            bytes += (0..<size - bytes.count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            try directory.write(bytes, to: "files/\(number).png")
        }
        let text = """
            daemon off; master_process off; pid \(directory.path("pid")); error_log stderr notice;
            events { worker_connections 256; }
            http {
                access_log off; types { image/png png; }
                client_body_temp_path \(directory.path("body")); proxy_temp_path \(directory.path("proxy"));
                fastcgi_temp_path \(directory.path("f")); uwsgi_temp_path \(directory.path("u"));
                scgi_temp_path \(directory.path("s"));
                server {
                    listen \(LossyLink.serverAddress):80; listen \(LossyLink.serverAddress):443 ssl http2;
                    ssl_certificate \(certificate); ssl_certificate_key \(key); root \(directory.path("files"));
                }
            }

            """
        let file = try directory.write(Array(text.utf8), to: "nginx.conf")
        let nginx = try await thread.spawn("nginx", ["-e", "stderr", "-p", directory.path, "-c", file])
        guard await nginx.waitForOutput("event method") else {
            throw EideticError(.refused, "nginx did not start: \(await nginx.finish().errorText)")
        }
        return nginx
    }

    /// Throughput of whole runs, ours and curl's in turn; each begins with no connection.
    func measure(_ bench: Bench, title: String, base: String) async throws {
        let urls = (0..<count).map { "\(base)/\($0).png" }
        var (ours, theirs) = ([Double](), [Double]())
        let megabytes = Double(count * Self.size) / 1e6
        for _ in 0..<rounds {
            link.reset()
            ours.append(megabytes / (try await Bench.seconds { try await load(urls) }))
            link.reset()
            theirs.append(megabytes / (try await Bench.seconds { try await runCurl(urls) }))
        }
        bench.report(
            Case("\(count) files of 200 KB, \(title), MB a second", .perSecond, better: .higher, goal: .ratio(0.9)),
            Samples(values: ours),
            baseline: ("curl -Z --parallel-max \(parallel)", Samples(values: theirs))
        )
    }

    private func load(_ urls: [String]) async throws {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = parallel
        configuration.observesNetwork = false
        let settings = configuration
        // Its engine's thread begins here, and so its sockets are at this end of the link.
        let downloader = await link.client.run { Downloader(settings) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for url in urls {
                var request = try FetchRequest(url: url)
                request.allowsInvalidCertificates = true
                group.addTask { [request] in try await downloader.fetch(request).bytes.count }
            }
            for try await size in group where size != Self.size {
                throw EideticError(.lengthMismatch, "\(size) bytes of \(Self.size)")
            }
        }
    }

    private func runCurl(_ urls: [String]) async throws {
        let lines = urls.map { "url = \"\($0)\"\noutput = \"/dev/null\"\n" }.joined()
        let words = ["-s", "-S", "-k", "-Z", "--parallel-max", "\(parallel)", "-K", "-"]
        let result = try await link.client.spawn("curl", words, input: Array(lines.utf8)).finish()
        guard result.status == .exited(0) else {
            throw EideticError(.badResponse, "curl failed: \(result.errorText.prefix(300))")
        }
    }
}
