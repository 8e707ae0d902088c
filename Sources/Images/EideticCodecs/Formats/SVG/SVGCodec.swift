#if SVG
import CCodec
import CSVG
import EideticCore

/// Scalable Vector Graphics, rendered at the target size by librsvg.
///
/// Compressed documents (`.svgz`) are decompressed within a limit. External resources are not read. The library bounds
/// the elements, but not the work of filters, and ends the process at some documents: it belongs into the sandbox.
enum SVGCodec: ImageCodec {
    static var formats: [ImageFormat] { [.svg] }

    static func prepare() { eidetic_svg_prepare() }

    /// Parses the size, which requires the complete document.
    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        guard input.isComplete else { return nil }
        return try SVGDocument(input.bytes).header
    }

    static func open(
        _ bytes: UnsafeRawBufferPointer,
        format: ImageFormat
    ) throws(EideticError) -> (header: ImageHeader?, document: AnyObject?) {
        let document = try SVGDocument(bytes)
        return (document.header, document)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let opened = task.document as? SVGDocument
        let document = if let opened { opened } else { try SVGDocument(bytes) }
        try task.checkpoint()
        return DecodedPixels(try document.draw(size: task.targetSize))
    }

    static func decodedSize(for task: DecodeTask) -> PixelSize { task.targetSize }

    /// The rendered image, as much again for filters and masks, and the document if it is compressed.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        let (memory, overflow) = task.targetSize.pixelCount.multipliedReportingOverflow(by: 8)
        let content = (task.document as? SVGDocument)?.contentByteCount ?? 0
        return overflow || memory > .max - content ? .max : memory + content
    }
}

/// A parsed SVG document.
private final class SVGDocument {
    private let handle: OpaquePointer
    /// A document of the background; `nil` for none.
    private let background: OpaquePointer?
    /// The document itself if the file is compressed, or is not drawn as it stands.
    private let content: [UInt8]?
    let header: ImageHeader

    convenience init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        let document = GzipFile.isCompressed(bytes) ? try GzipFile.document(in: bytes) : nil
        let repair = document.map { $0.withUnsafeBytes { SVGRepair($0) } } ?? SVGRepair(bytes)
        let content = repair.repaired ?? document
        let resolved =
            content.map { $0.withUnsafeBytes { StyleVariables.resolved($0) } } ?? StyleVariables.resolved(bytes)
        try self.init(bytes, content: resolved ?? content, background: repair.background)
    }

    private init(
        _ bytes: UnsafeRawBufferPointer,
        content: [UInt8]?,
        background: String?
    ) throws(EideticError) {
        self.content = content
        if let content {
            (handle, header) = try content.span.withUnsafeBytes { bytes throws(EideticError) in try Self.open(bytes) }
        } else {
            (handle, header) = try Self.open(bytes)
        }
        // What is no colour to the library is not painted.
        let rectangle = background.map { "<rect width='100%' height='100%' style='fill:\($0)'/>" }
        let document = rectangle.map { "<svg xmlns='http://www.w3.org/2000/svg' fill='none'>\($0)</svg>" }
        self.background = document.flatMap { document in
            Array(document.utf8).withUnsafeBytes { try? Self.open($0).0 }
        }
    }

    private static func open(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> (OpaquePointer, ImageHeader) {
        var outcome = eidetic_codec_outcome()
        var width = 0.0
        var height = 0.0
        let handle = eidetic_svg_open(bytes.baseAddress, bytes.count, &width, &height, &outcome)
        try outcome.check(format: .svg)
        guard let handle else { throw EideticError(.corrupt, message: "svg: the file has no document") }
        // As in browsers, the document's intrinsic size is rounded to whole pixels.
        let size = PixelSize(width: Self.wholePixels(for: width), height: Self.wholePixels(for: height))
        return (handle, ImageHeader(format: .svg, size: size, hasAlpha: true))
    }

    deinit {
        eidetic_svg_close(background)
        eidetic_svg_close(handle)
    }

    /// The size of ``content``; 0 without it.
    var contentByteCount: Int { content?.count ?? 0 }

    private static func wholePixels(for length: Double) -> Int {
        length < 1e9 ? Int(max(1, length.rounded())) : 1_000_000_000
    }

    func draw(size: PixelSize) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: size, alpha: .premultiplied) { memory, stride throws(EideticError) in
            var outcome = eidetic_codec_outcome()
            let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let (width, height) = (UInt32(clamping: size.width), UInt32(clamping: size.height))
            _ = eidetic_svg_draw(handle, background, base, width, height, stride, &outcome)
            try outcome.check(format: .svg)
        }
    }
}
#endif
