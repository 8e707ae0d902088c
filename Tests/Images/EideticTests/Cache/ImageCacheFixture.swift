import Eidetic
import EideticCore
import EideticTestSupport
import Glibc

/// An image cache in a directory of its own, with a clock and system calls that a test controls.
struct ImageCacheFixture {
    let directory: TemporaryDirectory
    let time = ManualTime()
    let plan = FaultPlan()
    let disk: DiskCache
    let cache: ImageCache

    init(
        _ configuration: ImageCache.Configuration = .init(),
        change: (inout DiskCache.Configuration, TemporaryDirectory) throws -> Void = { _, _ in }
    ) throws {
        directory = try TemporaryDirectory(named: "image-cache")
        var settings = DiskCache.Configuration(directory: directory.path(of: "cache"))
        settings.sizeLimit = .mebibytes(64)
        try change(&settings, directory)
        disk = try DiskCache(settings, fileSystem: FileSystem(observer: plan), time: time)
        cache = ImageCache(memory: ImageMemoryCache(), disk: disk, configuration: configuration)
    }

    /// Returns a cache over the same directory with an empty memory, as the next run of a program creates it.
    func nextRun(_ configuration: ImageCache.Configuration = .init()) -> ImageCache {
        ImageCache(memory: ImageMemoryCache(), disk: disk, configuration: configuration)
    }
}

extension TestImage {
    /// An image that was never encoded; with alpha every pixel is half transparent.
    static func image(
        width: Int = 8,
        height: Int = 6,
        frames: Int = 1,
        format: ImageFormat = .png,
        hasAlpha: Bool = false,
        sourceSize: PixelSize? = nil
    ) throws -> Image {
        let size = PixelSize(width: width, height: height)
        let buffers = try (0..<frames).map { number in
            try PixelBuffer(size: size, alpha: hasAlpha ? .premultiplied : .opaque) { pixels, _ in
                for index in pixels.indices { pixels[index] = UInt8(truncatingIfNeeded: number &* 60 &+ index / 4 % 2) }
                for index in stride(from: 3, to: pixels.count, by: 4) { pixels[index] = hasAlpha ? 128 : 255 }
            }
        }
        let duration = frames > 1 ? Duration.milliseconds(100) : .zero
        return Image(
            frames: buffers.map { Image.Frame(pixels: $0, duration: duration) },
            loopCount: frames > 1 ? nil : 1,
            format: format,
            sourceSize: sourceSize ?? size
        )
    }
}

/// Returns the code of the error that `body` throws.
func errorCode(thrownBy body: () throws -> Void) -> EideticError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? EideticError)?.code
    }
}

/// Returns the code of the error that `body` throws.
func errorCode(thrownBy body: () async throws -> Void) async -> EideticError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? EideticError)?.code
    }
}
