import EideticCodecs
public import EideticCore
import EideticFetch
public import EideticHTTP
public import FoundationEssentials

extension FakeNetwork {
    /// A response of a fake network.
    public struct Response: Sendable {
        private enum Content: Sendable {
            case image(PixelSize)
            case bytes([UInt8])
            case failure(EideticError)
        }

        private let content: Content
        private let status: Int
        /// The header fields.
        public var headers: HTTPHeaders

        /// An image of one colour, encoded as PNG.
        public static func image(size: PixelSize, headers: HTTPHeaders = [:]) -> Response {
            Response(content: .image(size), status: 200, headers: headers)
        }

        /// These bytes, with status 200.
        public static func bytes(_ bytes: some ContiguousBytes, headers: HTTPHeaders = [:]) -> Response {
            Response(content: .bytes(bytes.withUnsafeBytes { Array($0) }), status: 200, headers: headers)
        }

        /// A status without a body, as 404 or 304.
        public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Response {
            Response(content: .bytes([]), status: status, headers: headers)
        }

        /// A redirect to another URL.
        public static func redirect(to url: String) -> Response { .status(302, headers: ["Location": url]) }

        /// No response: the network fails with this error.
        public static func failure(_ error: EideticError) -> Response {
            Response(content: .failure(error), status: 0, headers: [:])
        }

        func fetchResponse(url: String) throws(EideticError) -> FetchResponse {
            let bytes: [UInt8]
            switch content {
            case .image(let size): bytes = try ImageEncoder.encode(Image.solid(size: size), as: .png)
            case .bytes(let given): bytes = given
            case .failure(let error): throw error
            }
            return FetchResponse(status: status, headers: headers, bytes: bytes, effectiveURL: url)
        }
    }
}

extension Image {
    /// Creates an opaque image of one colour, for tests.
    ///
    /// - Throws: `limitExceeded` if the size is not positive.
    public static func solid(
        size: PixelSize,
        red: UInt8 = 128,
        green: UInt8 = 128,
        blue: UInt8 = 128
    ) throws(EideticError) -> Image {
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { _ in SIMD4(red, green, blue, 255) }
        return Image(frames: [Frame(pixels: pixels)], format: .png, sourceSize: size)
    }
}
