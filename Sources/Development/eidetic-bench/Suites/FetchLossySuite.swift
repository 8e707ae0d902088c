import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc

extension Suite {
    /// The downloader against curl on a link with delay and packet loss.
    static let fetchLossy = Suite(
        "fetch-lossy",
        summary: "files over a link with delay and loss, against curl -Z; needs root, TUN devices and ip",
        arguments: [
            "files=40  the number of files", "parallel=6  the number of concurrent downloads",
            "rounds=9  the number of samples",
            "delay=40  the round-trip time in milliseconds",
            "loss=10  the number of lost packets per thousand, in a fixed sequence",
        ]
    ) { bench in
        guard geteuid() == 0, access("/dev/net/tun", R_OK | W_OK) == 0, Subprocess.executablePath(for: "ip") != nil
        else {
            return printError("fetch-lossy: skipped: it needs root, /dev/net/tun and ip")
        }
        let run = try await LossyRun(bench: bench)
        try await run.measure(with: bench, title: "HTTP/1.1", baseURL: "http://\(LossyLink.serverAddress)")
        try await run.measure(
            with: bench,
            title: "HTTP/2, one connection",
            baseURL: "https://\(LossyLink.serverAddress)"
        )
    }
}

/// The same files downloaded by Eidetic and by curl, in alternation.
private struct LossyRun {
    private let link: LossyLink
    private let nginx: Subprocess
    private let directory: TemporaryDirectory
    private let count: Int
    private let parallel: Int
    private let rounds: Int
    private static let size = 200_000

    init(bench: Bench) async throws {
        count = try bench.integer(named: "files", default: 40, quick: 6)
        parallel = try bench.integer(named: "parallel", default: 6)
        rounds = try bench.integer(named: "rounds", default: 9, quick: 1)
        let delay = Duration.milliseconds(try bench.integer(named: "delay", default: 40))
        link = try await LossyLink(roundTripTime: delay, lossPerMille: try bench.integer(named: "loss", default: 10))
        directory = try TemporaryDirectory(named: "lossy")
        nginx = try await Self.startServer(on: link.server, in: directory, fileCount: count)
    }

    private static func startServer(
        on thread: NamespaceThread,
        in directory: TemporaryDirectory,
        fileCount: Int
    ) async throws -> Subprocess {
        let (key, certificate) = (directory.path(of: "key.pem"), directory.path(of: "certificate.pem"))
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=lossy", "-keyout", key, "-out", certificate,
        ]
        guard try await Subprocess.run("openssl", arguments: arguments).status == .exited(0) else {
            throw EideticError(.tlsFailure, message: "openssl failed to create a certificate")
        }
        var random = SplitMix(state: 7)
        for number in 0..<fileCount {
            var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            bytes += (0..<size - bytes.count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            try directory.write(bytes, to: "files/\(number).png")
        }
        let text = """
            daemon off; master_process off; pid \(directory.path(of: "pid")); error_log stderr notice;
            events { worker_connections 256; }
            http {
                access_log off; types { image/png png; }
                client_body_temp_path \(directory.path(of: "body")); proxy_temp_path \(directory.path(of: "proxy"));
                fastcgi_temp_path \(directory.path(of: "f")); uwsgi_temp_path \(directory.path(of: "u"));
                scgi_temp_path \(directory.path(of: "s"));
                server {
                    listen \(LossyLink.serverAddress):80; listen \(LossyLink.serverAddress):443 ssl http2;
                    ssl_certificate \(certificate); ssl_certificate_key \(key); root \(directory.path(of: "files"));
                }
            }

            """
        let file = try directory.write(Array(text.utf8), to: "nginx.conf")
        let nginx = try await thread.spawn("nginx", arguments: ["-e", "stderr", "-p", directory.path, "-c", file])
        guard await nginx.waitForOutput("event method") else {
            throw EideticError(.refused, message: "nginx did not start: \(await nginx.waitUntilExit().errorText)")
        }
        return nginx
    }

    /// Measures the throughput of whole runs, alternating with curl; each run starts without connections.
    func measure(with bench: Bench, title: String, baseURL: String) async throws {
        let urls = (0..<count).map { "\(baseURL)/\($0).png" }
        var (ours, theirs) = ([Double](), [Double]())
        let megabytes = Double(count * Self.size) / 1e6
        for _ in 0..<rounds {
            link.reset()
            ours.append(megabytes / (try await Bench.seconds { try await download(urls) }))
            link.reset()
            theirs.append(megabytes / (try await Bench.seconds { try await runCurl(urls) }))
        }
        bench.report(
            BenchmarkCase(
                "\(count) files of 200 KB, \(title), MB a second",
                unit: .perSecond,
                better: .higher,
                goal: .ratio(0.9)
            ),
            samples: Samples(values: ours),
            baseline: ("curl -Z --parallel-max \(parallel)", Samples(values: theirs))
        )
    }

    private func download(_ urls: [String]) async throws {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = parallel
        // As many connections to the one server as the clients that it is compared with.
        configuration.maximumPerHost = parallel
        configuration.observesNetwork = false
        let settings = configuration
        // The downloader's engine thread starts in the client's namespace, so its sockets are at that end of the link.
        let downloader = await link.client.run { Downloader(settings) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for url in urls {
                var request = try FetchRequest(url: url)
                request.allowsInvalidCertificates = true
                group.addTask { [request] in try await downloader.fetch(request).bytes.count }
            }
            for try await size in group where size != Self.size {
                throw EideticError(.lengthMismatch, message: "\(size) bytes of \(Self.size)")
            }
        }
    }

    private func runCurl(_ urls: [String]) async throws {
        let lines = urls.map { "url = \"\($0)\"\noutput = \"/dev/null\"\n" }.joined()
        let arguments = ["-s", "-S", "-k", "-Z", "--parallel-max", "\(parallel)", "-K", "-"]
        let result = try await link.client.spawn("curl", arguments: arguments, input: Array(lines.utf8)).waitUntilExit()
        guard result.status == .exited(0) else {
            throw EideticError(.badResponse, message: "curl failed: \(result.errorText.prefix(300))")
        }
    }
}
