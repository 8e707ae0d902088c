// An image service: /resize?url=…&w=…&h=…&format=…, and /metrics for Prometheus.
// usage: ImageService PORT [--shared redis://HOST:PORT] [--allow-private]
import CMicroHTTP
import Eidetic
import EideticCodecs
import EideticFetch
import EideticRedis
import EideticStore

@main
enum ImageService {
    static func main() {
        http_block_signals()
        do throws(EideticError) {
            let options = try Options(CommandLine.arguments.dropFirst())
            ImagePipeline.shared = try ImagePipeline { configuration throws(EideticError) in
                configuration.decodePolicy = .sandboxed
                configuration.decodeLimits.duration = .seconds(5)
                configuration.memoryLimit = .mebibytes(32)
                configuration.freshness = .http
                configuration.derivedImages.isExact = true
                configuration.downloads.refusesPrivateNetworks = !options.allowsPrivate
                // Images of a private network are in a cache of their own, which others are not served from.
                let name = options.allowsPrivate ? "image-service-private" : "image-service"
                let directory = DiskCache.defaultDirectory(namespace: name)
                configuration.diskCache = try DiskCache(DiskCache.Configuration(directory: directory))
                #if Redis
                configuration.sharedTier = try options.shared.map { url throws(EideticError) in
                    try RedisTier(RedisTier.Configuration(url: url))
                }
                #endif
            }
            guard http_serve(options.port, 64, answer(_:path:), { Client.announce(port: $0) }) else {
                throw EideticError(.inUse, message: "port \(options.port) cannot be used")
            }
        } catch {
            Client.end(because: error)
        }
    }
}

/// Answers a request, on the thread of its connection.
func answer(_ connection: OpaquePointer?, path: UnsafePointer<CChar>?) {
    guard let connection, let path = path.map({ String(cString: $0) }) else { return }
    let client = Client(connection: connection)
    do throws(EideticError) {
        switch path {
        case "/resize": try resize(for: client)
        case "/metrics": client.send(Array(ImagePipeline.shared.statistics.prometheusText.utf8))
        default: client.send(Array("there is /resize and /metrics\n".utf8), status: 404)
        }
    } catch {
        client.send(Array("\(error.message)\n".utf8), status: error.responseStatus)
    }
}

func resize(for client: Client) throws(EideticError) {
    // Other than ImageRequest(url), this takes http and https only, and no file of this machine.
    var source = FetchRequest(try client.text("url"))
    (source.timeout, source.totalTimeout, source.byteLimit) = (.seconds(5), .seconds(10), .mebibytes(20))
    let size = PixelSize(
        width: try client.number("w", in: 1...4_096),
        height: try client.number("h", in: 1...4_096)
    )
    let format = try client.format("format", of: [.jpeg, .png, .webp, .avif])
    let request = ImageRequest(.remote(source), rendering: .init(size: size), options: .firstFrameOnly)
    // Waits on this thread; the load is cancelled if the client leaves.
    guard let response = try client.wait(for: ImagePipeline.shared.task(for: request)) else { return }
    client.sendIfChanged(try Client.encode(response.image, as: format), type: format.mimeType)
}
