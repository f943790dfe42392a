//! The recorded values: for each run, by its name, a digest of all outputs.

pub(crate) const PLAIN: &[(&str, u64)] = &[
    ("adaptive, clean", 0x1f34_d16a_dc65_0a57),
    ("adaptive, random 3 %", 0x1eb4_49fb_d945_6640),
    ("adaptive, random 20 %", 0x1ca7_8633_c41b_ab89),
    ("adaptive, bursts", 0xc672_006c_78bd_1718),
    ("adaptive, outages", 0x899a_e6e7_bc74_17bc),
    ("adaptive, steps", 0xce97_5b20_1258_a8b2),
    ("adaptive, narrow", 0xfed1_62c9_9cc2_1f0e),
    ("adaptive, rough", 0x3eef_98a3_a15a_ec0f),
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
    ("clean", 0x9681_5a02_b871_8ecd),
    ("random 3 %", 0xffc2_e189_628b_45e6),
    ("random 20 %", 0x31f0_5d83_896f_7884),
    ("bursts", 0x2b11_86a5_d126_95c2),
    ("outages", 0xf8f4_3e8b_8ac8_77f5),
    ("steps", 0x2f93_2e2e_8d96_c30c),
    ("narrow", 0xf7b5_9b97_dd9c_f887),
    ("rough", 0x8741_7123_a739_cd13),
];

pub(crate) const CHOICES: &[(&str, u64)] = &[
    ("loss 0", 0x5221_37d9_f03b_42a5),
    ("loss 0.005", 0xc308_b755_d564_4015),
    ("loss 0.02", 0x3736_2710_9a24_1b4a),
    ("loss 0.06", 0x8859_1d5d_cc3b_8afd),
    ("loss 0.15", 0x87ed_c173_7625_1abe),
    ("loss 0.4", 0x1238_272b_0af6_73b2),
    ("loss 1", 0xb6a2_17fa_0d87_5513),
];
