#if GTK
import EideticCore
import EideticTestSupport
import Eidetic
import Glibc

/// An origin that serves `/n/NUMBER.png`, each after 30 milliseconds.
final class NumberedOrigin: Sendable {
    private let origin: ScriptedOrigin

    init() throws(EideticError) {
        origin = try ScriptedOrigin { request in
            usleep(30_000)
            guard let image = try? NumberedImage.image(number: Self.number(in: request.path)),
                let bytes = try? image.encoded(as: .png)
            else { return [.response(500), .close] }
            return [
                .response(200, headers: ["Content-Type": "image/png", "Connection": "close"], body: bytes), .close,
            ]
        }
    }

    /// The rule that makes nginx forward requests to this origin.
    var proxy: String { "location /n/ { proxy_pass \(origin.url); }" }

    /// The numbers of all requests so far.
    var numbers: [Int] { origin.requests.map { Self.number(in: $0.path) } }

    private static func number(in path: String) -> Int { Int(path.filter(\.isNumber)) ?? -1 }
}
#endif
