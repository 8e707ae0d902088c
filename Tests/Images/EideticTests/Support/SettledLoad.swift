import Eidetic
import EideticTestSupport

/// Loads an image, and returns when the pipeline has stored what it keeps of it.
func load(_ request: ImageRequest, by pipeline: ImagePipeline) async throws -> ImageResponse {
    let response = try await pipeline.response(for: request)
    try await eventually("the pipeline is idle") { pipeline.isIdle }
    return response
}
