public import Eidetic
import EideticCore
import EideticFetch

extension ImagePipeline {
    /// Creates a pipeline for tests: without a disk cache, over a fake network, and as if in the foreground for ever.
    ///
    /// All else is as in an application, so a test sees real decoding, coalescing, cancellation and memory.
    ///
    /// - Parameters:
    ///   - network: The network.
    ///   - configure: A function that changes the configuration further.
    /// - Returns: A new pipeline.
    public static func fake(
        over network: FakeNetwork,
        configure: (inout Configuration) -> Void = { _ in }
    ) -> ImagePipeline {
        var configuration = Configuration()
        configuration.environment = ForegroundEnvironment()
        configuration.downloads.environment = ForegroundEnvironment()
        configuration.downloads.network = network
        configure(&configuration)
        return ImagePipeline(configuration)
    }
}
