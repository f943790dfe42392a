//! The recorded values: for each run, by its name, a digest of all outputs.

pub(crate) const PLAIN: &[(&str, u64)] = &[
    ("adaptive, clean", 0x881b_cae5_0f83_c7a4),
    ("adaptive, random 3 %", 0x4ee7_c428_7029_32cc),
    ("adaptive, random 20 %", 0x7f98_1fe3_3bd6_58b2),
    ("adaptive, bursts", 0x6139_36bc_1087_2af8),
    ("adaptive, outages", 0xc5b0_c7fd_0a19_e1d2),
    ("adaptive, steps", 0x1024_322f_f5eb_02d1),
    ("adaptive, narrow", 0x70ec_16e6_54e5_eca5),
    ("adaptive, rough", 0xfd97_6a44_f95f_6b3a),
    ("plain, clean", 0xea69_1118_c223_e776),
    ("plain, random 3 %", 0xa248_2097_b02c_f799),
    ("plain, random 20 %", 0x682e_d4be_8af5_041d),
    ("plain, bursts", 0x4cb5_55b3_3909_cbd4),
    ("plain, outages", 0xa44c_6e38_33e1_4aa9),
    ("plain, steps", 0x4a6c_cd85_80fe_0c7d),
    ("plain, narrow", 0xae9a_6898_3cf1_e38d),
    ("plain, rough", 0x670c_a4cd_732e_10f6),
    ("mixed, clean", 0x4c8d_156d_7f95_18ab),
    ("mixed, random 3 %", 0x8cef_9a8b_3318_6193),
    ("mixed, random 20 %", 0xd92d_2956_3dd1_84a0),
    ("mixed, bursts", 0x3e09_37b3_5bf4_57b0),
    ("mixed, outages", 0x3f18_93ed_8aca_4dda),
    ("mixed, steps", 0xf78a_ed15_457b_cbec),
    ("mixed, narrow", 0xa805_012e_1b94_3878),
    ("mixed, rough", 0x312f_a14a_7bfd_6a98),
];

pub(crate) const CODED: &[(&str, u64)] = &[
    ("clean", 0xa08c_07d8_ab20_9dd9),
    ("random 3 %", 0x570b_109b_7be4_af08),
    ("random 20 %", 0x4a9e_6ab6_4e1e_ea3d),
    ("bursts", 0xc651_880e_682a_1b26),
    ("outages", 0x5234_c964_18fc_c46c),
    ("steps", 0x1b8e_28b4_e920_5272),
    ("narrow", 0x4087_0d60_2005_b8a8),
    ("rough", 0xa135_f0f9_a3c5_a31b),
];

pub(crate) const CHOICES: &[(&str, u64)] = &[
    ("loss 0", 0x5221_37d9_f03b_42a5),
    ("loss 0.005", 0x8192_363e_7b95_ef03),
    ("loss 0.02", 0x82ba_6a2b_ae9a_10d6),
    ("loss 0.06", 0xe042_0071_25bb_d747),
    ("loss 0.15", 0xc985_daa5_dcfd_5850),
    ("loss 0.4", 0x0005_eccb_04c7_e36c),
    ("loss 1", 0xb6a2_17fa_0d87_5513),
];
