//! Compilations of kernels, as CubeCL reports them.

/// The target of the records of the crate `log` that report compiled kernels, one for each.
pub const COMPILATION: &str = "cubecl::compilation";

/// Has each kernel that is compiled on a graphics card from now on reported through the crate `log`, at the level
/// `info` with the target [`COMPILATION`], besides where a `cubecl.toml` sends it. Returns false, and changes
/// nothing, if a device has been used before, or if there is no support for graphics cards.
pub fn log_compilations() -> bool {
    #[cfg(feature = "cube")]
    {
        use burn_cubecl::cubecl::config::{
            CubeClRuntimeConfig, RuntimeConfig, compilation::CompilationLogLevel,
        };
        let mut config = CubeClRuntimeConfig::from_current_dir().override_from_env();
        let logger = &mut config.compilation.logger;
        logger.log.get_or_insert_default();
        if matches!(logger.level, CompilationLogLevel::Disabled) {
            logger.level = CompilationLogLevel::Basic;
        }
        CubeClRuntimeConfig::try_set(config)
    }
    #[cfg(not(feature = "cube"))]
    false
}
